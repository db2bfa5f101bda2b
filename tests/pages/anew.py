"""What several tests of pages compute anew, and a short way to what a view gets."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.app import views
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer


def sent(app: AppTest, key: str) -> Any:
    """What a client-side view gets as JSON."""
    return json.loads(views(app)[key].json)


def ids_of(text: str, model: str = "tiny-english") -> tuple[int, ...]:
    return tuple(Tokenizer.load(zoo.MODELS / model / "tokenizer.json").encode(text, max_len=256).ids)


def softmax(logits: Array) -> Array:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def losses(logits: Array, ids: tuple[int, ...]) -> Array:
    """−log p of each token but the first, in nats: (len − 1,)."""
    return -np.log(softmax(logits)[np.arange(len(ids) - 1), ids[1:]])
