"""Sinusoidal absolute positions (Vaswani et al. 2017, section 3.5)."""

from __future__ import annotations

import torch
from torch import Tensor

from tfmviz.positions.base import Positions
from tfmviz.tap import Tap


def sinusoids(length: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same); positions and i count from 0.

    Sines and cosines alternate, as in the paper; some libraries store [all sines | all cosines].

    Returns:
        (length, d_model), values in [-1, 1].
    """
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)  # 2i
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (pair / d_model)  # (length, d_model / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()  # (length, d_model)


class Sinusoidal(Positions):
    """x_i + PE(i): nothing to train, and defined for any length, past `max_len` too."""

    table: Tensor

    def __init__(self, *, max_len: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(max_len, d_model), persistent=False)

    def embed(self, x: Tensor, tap: Tap, *, past: int = 0) -> Tensor:
        return x + tap("pos_embed", self.first(past + x.shape[1])[None, past:])

    def first(self, length: int) -> Tensor:
        """PE of the first positions, (length, d_model): a slice of the table, or computed anew past its end."""
        max_len, d_model = self.table.shape
        return self.table[:length] if length <= max_len else sinusoids(length, d_model).to(self.table)
