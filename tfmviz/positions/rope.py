"""Rotary positions, RoPE (Su et al. 2021, section 3.2)."""

from __future__ import annotations

import math
from typing import Literal, Self, assert_never

import torch
from torch import Tensor

from tfmviz.constants import BASE
from tfmviz.positions.base import Positions
from tfmviz.record.facts import Facts
from tfmviz.record.tap import Tap

Theta = tuple[float, ...]
"""Radians per position for each pair of coordinates. Pairs that do not turn have 0."""

Stretching = Literal["none", "position interpolation", "NTK-aware"]
"""Ways to read longer texts than in training."""


def frequencies(d_head: int, *, base: float = BASE) -> Tensor:
    """θ_m = base^(-2m/d_head): radians per position of coordinate pair m, counted from 0.

    Returns:
        (d_head / 2,), float64, decreasing from 1.

    Raises:
        ValueError: `d_head` is odd or below 2, or `base` is not above 1.
    """
    if d_head < 2 or d_head % 2:
        raise ValueError(f"RoPE turns pairs of coordinates, so d_head must be even and at least 2, but it is {d_head}.")
    if not 1 < base < math.inf:
        raise ValueError(f"The base must be larger than 1, or later pairs would not turn more slowly; it is {base:g}.")
    pair = torch.arange(0, d_head, 2, dtype=torch.float64)  # 2m
    return base ** (-pair / d_head)


def own_frequencies(config: Facts, layer: str) -> Tensor:
    """θ_m of a layer such as "decoder.0.self_attn", by the facts or else the width: (d_head / 2,), float64."""
    theta = config.positions.theta_in(int(layer.split(".")[1]))
    return frequencies(config.d_head) if theta is None else torch.tensor(theta, dtype=torch.float64)


def base_of(theta: Tensor) -> float | None:
    """The base of these frequencies, if the first pairs are stretched evenly.

    θ_m / θ_(m+1) = base^(1/n) for n pairs that turn. None if fewer than three do.
    """
    turning = theta[theta > 0].double()
    if len(turning) < 3 or not torch.isclose(turning[0] / turning[1], turning[1] / turning[2], rtol=1e-6):
        return None
    return float(turning[0] / turning[1]) ** len(turning)


def stretched(theta: Tensor, *, scale: float, stretching: Stretching) -> Tensor:
    """θ_m for texts `scale` times as long as those trained on.

    - position interpolation: θ_m / scale (Chen et al. 2023, section 2.3);
    - NTK-aware: a larger base, base · scale^(d_head/(d_head-2)), so that the slowest pair is `scale` times slower and
      the fastest unchanged (bloc97 2023; Peng et al. 2023, section 3.1). For any base, pair m becomes
      scale^(2m/(d_head-2)) times slower.

    Args:
        theta: (pair,), of the pairs that turn, decreasing.

    Returns:
        (pair,), float64, radians per position.

    Raises:
        ValueError: `scale` is below 1; or there is a single pair.
    """
    if not 1 <= scale < math.inf:
        raise ValueError(f"Stretching makes room for longer texts, so scale must be at least 1; it is {scale:g}.")
    match stretching:
        case "none":
            return theta
        case "position interpolation":
            return theta / scale
        case "NTK-aware":
            if len(theta) == 1:
                raise ValueError("With d_head = 2 there is one pair, and it turns by 1 whatever the base is.")
            pair = torch.arange(len(theta), dtype=torch.float64)
            return theta * scale ** (-pair / (len(theta) - 1))
        case _:
            assert_never(stretching)


def rotation_angles(length: int, d_head: int, *, theta: Theta | None = None) -> Tensor:
    """i · θ_m for positions i and pairs of coordinates m, both counted from 0: (length, d_head / 2), radians.

    Args:
        theta: one for each pair; None: `frequencies`.
    """
    turning = frequencies(d_head) if theta is None else torch.tensor(theta, dtype=torch.float64)
    return (torch.arange(length, dtype=torch.float64)[:, None] * turning).float()


def rotations(length: int, d_head: int, *, theta: Theta | None = None) -> Tensor:
    """Cosine and sine of `rotation_angles`: (length, d_head / 2, 2)."""
    angles = rotation_angles(length, d_head, theta=theta)
    return torch.stack((angles.cos(), angles.sin()), dim=-1)


def rotate_pairs(x: Tensor, angles: Tensor) -> Tensor:
    """Rotates each pair of neighbouring coordinates (x_2m, x_2m+1) by the angle of its position, shape kept.

        x'_2m   = x_2m cos - x_2m+1 sin
        x'_2m+1 = x_2m sin + x_2m+1 cos

    Computed as the complex product (x_2m + i x_2m+1) e^(i angle). LLaMA's code pairs x_m with x_(m + d/2), which only
    reorders the coordinates.

    Args:
        x: (batch, head, len, d_head).
        angles: (len, d_head / 2, 2), cosine and sine of each angle.
    """
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))  # (batch, head, len, d_head / 2)
    turned = torch.view_as_real(pairs * torch.view_as_complex(angles))  # (batch, head, len, d_head / 2, 2)
    return turned.flatten(-2).to(x.dtype)


class Rope(Positions):
    """Queries and keys rotate with their position, so q_i · k_j depends on the positions only through i - j.

    Defined for any length, past `max_len` too.
    """

    angles: Tensor

    def __init__(self, *, max_len: int, d_head: int, theta: Theta | None = None) -> None:
        super().__init__()
        self.theta = theta
        self.register_buffer("angles", rotations(max_len, d_head, theta=theta), persistent=False)

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(max_len=facts.max_len, d_head=facts.d_head, theta=facts.positions.rope_theta)

    def rotate(self, q: Tensor, k: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        angles = self.first(k.shape[-2])  # (k_len, d_head / 2, 2)
        rot_q = tap("rot_q", rotate_pairs(q, angles[k.shape[-2] - q.shape[-2] :]))  # (batch, head, q_len, d_head)
        rot_k = tap("rot_k", rotate_pairs(k, angles))  # (batch, head, k_len, d_head)
        return rot_q, rot_k

    def turns(self, length: int) -> Tensor:
        return rotation_angles(length, 2 * self.angles.shape[1], theta=self.theta)

    def first(self, length: int) -> Tensor:
        """Rotations of the first positions, computed if the table is too short."""
        max_len, half, _ = self.angles.shape
        return (
            self.angles[:length] if length <= max_len else rotations(length, 2 * half, theta=self.theta).to(self.angles)
        )
