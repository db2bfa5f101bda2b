"""Rotary positions, RoPE (Su et al. 2021, section 3.2)."""

from __future__ import annotations

import torch
from torch import Tensor

from tfmviz.positions.base import Positions
from tfmviz.tap import Tap


def rotation_angles(length: int, d_head: int) -> Tensor:
    """i · θ_m with θ_m = 10000^(-2m/d_head), for positions i and coordinate pairs m, both from 0.

    Returns:
        (length, d_head / 2), radians.
    """
    pair = torch.arange(0, d_head, 2, dtype=torch.float64)  # 2m
    return (torch.arange(length, dtype=torch.float64)[:, None] * 10000 ** (-pair / d_head)).float()


def rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns each pair of neighbouring coordinates (x_2m, x_2m+1) by the angle of its position.

        x'_2m   = x_2m cos - x_2m+1 sin
        x'_2m+1 = x_2m sin + x_2m+1 cos

    Lengths stay as they are. Neighbours are paired as in the paper; LLaMA-style code pairs x_m with x_(m + d/2),
    which is the same up to a fixed reordering of the coordinates.

    Args:
        x: (batch, head, len, d_head).
        cos, sin: (len, d_head / 2), of the angles.

    Returns:
        (batch, head, len, d_head).
    """
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)  # (batch, head, len, d_head / 2) each
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Rope(Positions):
    """Queries and keys turn with their position, so that q_i · k_j depends on the positions only through i - j.

    Values and the residual stream stay untouched.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, *, max_len: int, d_head: int) -> None:
        super().__init__()
        angles = rotation_angles(max_len, d_head)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def rotate(self, q: Tensor, k: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        q_len, k_len = q.shape[-2], k.shape[-2]
        rot_q = rotate_pairs(q, self.cos[:q_len], self.sin[:q_len]).to(q.dtype)
        rot_k = rotate_pairs(k, self.cos[:k_len], self.sin[:k_len]).to(k.dtype)
        return tap("rot_q", rot_q), tap("rot_k", rot_k)
