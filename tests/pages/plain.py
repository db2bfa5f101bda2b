"""The model with which most pages open, in plain numpy, straight from its files."""

import json
from functools import cache

import numpy as np

from tests.model import numpy_model
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer

MODEL = zoo.MODELS / "tiny-english"


def ids_of(text: str, model: str = MODEL.name, max_len: int = 256) -> tuple[int, ...]:
    return tuple(Tokenizer.load(zoo.MODELS / model / "tokenizer.json").encode(text, max_len=max_len).ids)


def weights(model: str = MODEL.name) -> dict[str, Array]:
    return numpy_model.weights(zoo.MODELS / model)


@cache
def forward(text: str) -> tuple[Array, Array, Array]:
    """Patterns (layer, head, len, len), streams (layer + 1, len, d_model) and logits (len, vocab)."""
    run = numpy_model.forward(MODEL, ids_of(text))
    return run.patterns, run.streams, run.logits


def softmax(logits: Array) -> Array:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def losses_by_position(name: str) -> list[float]:
    """What was measured of a shipped model on held-out text, in nats, position by position."""
    path = zoo.MODELS.parent / "training" / f"{name}-by-position.json"
    return list(json.loads(path.read_text(encoding="utf-8"))["loss"])


def losses(logits: Array, ids: tuple[int, ...]) -> Array:
    """−log p of each token but the first, in nats: (len − 1,)."""
    return -np.log(softmax(logits)[np.arange(len(ids) - 1), ids[1:]])
