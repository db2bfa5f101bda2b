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


def rotations(length: int, d_head: int) -> Tensor:
    """Cosine and sine of `rotation_angles`: (length, d_head / 2, 2)."""
    angles = rotation_angles(length, d_head)
    return torch.stack((angles.cos(), angles.sin()), dim=-1)


def rotate_pairs(x: Tensor, angles: Tensor) -> Tensor:
    """Turns each pair of neighbouring coordinates (x_2m, x_2m+1) by the angle of its position.

        x'_2m   = x_2m cos - x_2m+1 sin
        x'_2m+1 = x_2m sin + x_2m+1 cos

    That is the product of complex numbers (x_2m + i x_2m+1) · e^(i angle), which is how it is computed. Lengths stay
    as they are. Neighbours are paired as in the paper; LLaMA-style code pairs x_m with x_(m + d/2), which is the same
    up to a fixed reordering of the coordinates.

    Args:
        x: (batch, head, len, d_head).
        angles: (len, d_head / 2, 2), cosine and sine of each angle.

    Returns:
        (batch, head, len, d_head).
    """
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))  # (batch, head, len, d_head / 2)
    turned = torch.view_as_real(pairs * torch.view_as_complex(angles))  # (batch, head, len, d_head / 2, 2)
    return turned.flatten(-2).to(x.dtype)


class Rope(Positions):
    """Queries and keys turn with their position, so that q_i · k_j depends on the positions only through i - j.

    Values and the residual stream stay untouched. Defined for any length, past `max_len` too.
    """

    angles: Tensor

    def __init__(self, *, max_len: int, d_head: int) -> None:
        super().__init__()
        self.register_buffer("angles", rotations(max_len, d_head), persistent=False)

    def rotate(self, q: Tensor, k: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        angles = self.first(k.shape[-2])  # (k_len, d_head / 2, 2)
        rot_q = tap("rot_q", rotate_pairs(q, angles[k.shape[-2] - q.shape[-2] :]))  # (batch, head, q_len, d_head)
        rot_k = tap("rot_k", rotate_pairs(k, angles))  # (batch, head, k_len, d_head)
        return rot_q, rot_k

    def first(self, length: int) -> Tensor:
        """Rotations of the first positions: a slice of the table, or computed anew past its end."""
        max_len, half, _ = self.angles.shape
        return self.angles[:length] if length <= max_len else rotations(length, 2 * half).to(self.angles)
