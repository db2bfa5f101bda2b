"""The page that translates, and the model behind it, read in one pass."""

from typing import Any

import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from tests.app import open_page, sent
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.record.trace import Array
from tfmviz.zoo import ZooModel

TEXT = "Elle ne mange jamais de viande."


def open_translating(**address: str) -> AppTest:
    return open_page("translating", **{"model": "french-english", "text": TEXT} | address)


def view(app: AppTest) -> dict[str, Any]:
    return dict(sent(app, "translating"))


def log_p(model: ZooModel, text: str, target: list[int]) -> Array:
    """Log-probabilities of every next token, read in one pass without cache or record: (len + 1, vocab)."""
    module = model.module
    assert isinstance(module, EncoderDecoder)
    src = torch.tensor([model.tokenizer.encode_batch([text])[0]])  # type: ignore[union-attr]
    with torch.inference_mode():
        return F.log_softmax(module(src, torch.tensor([[0, *target]]))[0], dim=-1).numpy()
