"""Logits of selected positions, from the last stream.

All of them are a third of GPT-2's work and 13 MB for 64 tokens, and most figures show one row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import Headless, Transformer
from tfmviz.record.tap import NO_TAP, Tap

LONG = 2**14
"""Vocabulary size from which only the requested rows are computed. Below, one product gives all, so the last digits do
not depend on the request.
"""


def reads_rows(config: ModelConfig) -> bool:
    """True for models whose logits are computed row by row."""
    return config.head != "none" and config.vocab_size >= LONG


def stream_of(module: Transformer, inputs: Sequence[Tensor], *, tap: Tap = NO_TAP) -> Tensor:
    """The input of the head, (batch, len, d_model), for a text, or for source and target."""
    stream: Callable[..., Tensor] = module.stream
    return stream(*inputs, tap=tap)


def read_out(module: Transformer, x: Tensor, positions: Sequence[int] | slice, *, tap: Tap = NO_TAP) -> Tensor:
    """The logits of some positions: (batch, position, vocab).

    Args:
        x: (batch, len, d_model), from `stream_of`.
        tap: if it watches the head, all positions are computed, since edits act on all.

    Raises:
        ValueError: the model has no head.
    """
    if isinstance(module.head, Headless):
        raise ValueError("A model without a head has no logits.")
    if reads_rows(module.config) and not tap.watches("head", "logits"):
        return module.head(x[:, positions], module.embedding, tap=NO_TAP)
    return module.head(x, module.embedding, tap=tap)[:, positions]
