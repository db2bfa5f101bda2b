"""ALiBi: attention with linear biases (Press et al. 2022)."""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from tfmviz.positions.base import Positions, distances
from tfmviz.record.facts import Facts


def slopes(n_heads: int) -> Tensor:
    """The slope of each head, (n_heads,): 2^(-8h/n) for h = 1 … n.

    If n is not a power of two, the authors' code takes the slopes of the next lower power of two and adds every other
    slope of the next higher one until there are n.
    """
    power = 2 ** math.floor(math.log2(n_heads))
    steps = torch.arange(1, power + 1) * 8 / power
    between = (2 * torch.arange(n_heads - power) + 1) * 4 / power
    return 2.0 ** -torch.cat((steps, between))


class Alibi(Positions):
    """scores_ij - slope_h · |i - j|. Nothing is trained or added to the embeddings; defined for any length.

    The paper covers decoders, where j ≤ i. In an encoder a key to the right costs as much as one to the left.
    """

    slopes: Tensor

    def __init__(self, *, n_heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", slopes(n_heads), persistent=False)

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(n_heads=facts.attention.n_heads)

    def bias(self, q_len: int, k_len: int) -> Tensor:
        distance = distances(q_len, k_len, device=self.slopes.device)
        return -self.slopes[:, None, None] * distance.abs()  # (head, q_len, k_len)
