"""What a position scheme does, found out by trying it at the three places where it can act."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tfmviz.positions.base import Positions
from tfmviz.tap import NO_TAP


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Effects:
    """What a scheme does to a text; None where it does nothing.

    Attributes:
        added: (len, d_model), what each position adds to the token embedding.
        turned: (len, d_head), what becomes of (1, 0, 1, 0 …) in a query or key: cosine and sine of each pair's angle.
        bias: (head, len, len), what is added to the scores.
    """

    added: Tensor | None
    turned: Tensor | None
    bias: Tensor | None


@torch.inference_mode()
def effects(scheme: Positions, length: int, *, d_model: int, d_head: int) -> Effects:
    """Tries a scheme on embeddings that are zero, on arrows that all point the same way, and on scores."""
    nothing = torch.zeros(1, length, d_model)
    arrows = torch.tensor([1.0, 0.0]).repeat(1, 1, length, d_head // 2)  # (batch, head, len, d_head)
    embedded = scheme.embed(nothing, NO_TAP)
    turned, _ = scheme.rotate(arrows, arrows, NO_TAP)
    return Effects(
        added=None if embedded is nothing else embedded[0],
        turned=None if turned is arrows else turned[0, 0],
        bias=scheme.bias(length, length),
    )
