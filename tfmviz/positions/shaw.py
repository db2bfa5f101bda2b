"""Relative positions as vectors added to the keys (Shaw et al. 2018, section 3)."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from tfmviz.constants import CLIP
from tfmviz.positions.base import Positions, distances
from tfmviz.positions.learned import STD
from tfmviz.record.facts import Facts


def clipped(distance: Tensor) -> Tensor:
    """The table row for each distance, query position minus key position: from 0 to 2 CLIP, shape kept.

    Row 0 belongs to keys `CLIP` or more tokens to the left, the last row to those `CLIP` or more to the right.
    """
    return (-distance).clamp(-CLIP, CLIP) + CLIP


class Shaw(Positions):
    """scores_ij = q_i · (k_j + a_clip(j - i)) / √d_head, with one trained vector a for each clipped distance.

    All heads share the table, as in the paper, and so do all layers, as in T5; the paper has one per layer. The paper's
    second table, added to the values, is left out: its ablation finds no gain (section 4.3).
    """

    def __init__(self, *, d_head: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(2 * CLIP + 1, d_head).normal_(std=STD))

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(d_head=facts.d_head)

    def relate(self, q: Tensor, k_len: int) -> Tensor:
        rows = clipped(distances(q.shape[-2], k_len, device=q.device))  # (q_len, k_len)
        with_each = q @ self.table.mT.to(q.dtype)  # (batch, head, q_len, 2 CLIP + 1)
        return with_each.gather(-1, rows.expand(*q.shape[:-1], k_len))

    def vectors(self, length: int) -> Tensor:
        return self.table[clipped(torch.arange(length - 1, -length, -1, device=self.table.device))]
