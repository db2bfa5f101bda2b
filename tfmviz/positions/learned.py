"""Learned absolute positions: one trained vector per position (GPT-2, BERT)."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from tfmviz.positions.base import Positions
from tfmviz.record.facts import Facts
from tfmviz.record.tap import Tap

STD = 0.02
"""Standard deviation of a new table's entries."""


class Learned(Positions):
    """x_i + P_i, with P a trained (max_len, d_embed) table. There is no vector past `max_len`."""

    def __init__(self, *, max_len: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d_model).normal_(std=STD))

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(max_len=facts.max_len, d_model=facts.d_embed)

    def embed(self, x: Tensor, tap: Tap, *, past: int = 0) -> Tensor:
        return x + tap("pos_embed", self.first(past + x.shape[1])[None, past:])

    def first(self, length: int) -> Tensor:
        """The first rows of P, (length, d_model). Raises: ValueError, if there are fewer."""
        max_len = self.table.shape[0]
        if length > max_len:
            raise ValueError(f"There are {max_len} learned positions, but the text has {length} tokens.")
        return self.table[:length]
