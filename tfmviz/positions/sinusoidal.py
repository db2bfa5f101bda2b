"""Sinusoidal absolute positions (Vaswani et al. 2017, section 3.5)."""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from tfmviz.constants import BASE
from tfmviz.positions.base import Positions
from tfmviz.record.facts import Facts
from tfmviz.record.tap import Tap

MAX_POSITION = 2**24
"""The largest position below which float32 holds every integer."""


def wavelengths(d_model: int, *, base: float = BASE) -> Tensor:
    """Positions per full turn of each pair of dimensions: 2π · base^(2i/d_model), i from 0.

    Returns:
        (d_model / 2,), float64, from 2π up to almost 2π · base.

    Raises:
        ValueError: `d_model` is odd or below 2, or `base` is not above 1.
    """
    return 2 * math.pi * _divisors(d_model, base)


def sinusoids(length: int, d_model: int, *, base: float = BASE) -> Tensor:
    """PE(pos, 2i) = sin(pos / base^(2i/d_model)), PE(pos, 2i+1) = cos(the same); positions and i count from 0.

    Sines and cosines alternate, as in the paper. Some libraries store [all sines | all cosines]: see `sines_first`.

    Returns:
        (length, d_model), values in [-1, 1].
    """
    _check(0, length - 1)
    return waves(torch.arange(length), d_model, base)


def sinusoids_at(positions: Tensor, d_model: int, *, base: float = BASE) -> Tensor:
    """Rows of `sinusoids` for integer positions (n,): (n, d_model).

    Raises:
        ValueError: as `wavelengths`, or a position is negative or past `MAX_POSITION`.
    """
    if len(positions):
        _check(int(positions.min()), int(positions.max()))
    return waves(positions, d_model, base)


def _check(low: int, high: int) -> None:
    if low < 0:
        raise ValueError(f"Positions count from 0, so there is no position {low}. Take 0 or more.")
    if high > MAX_POSITION:
        raise ValueError(
            f"Position {high:,} is past {MAX_POSITION:,}, where float32 can no longer tell neighbours apart. Take less."
        )


def waves(positions: Tensor, d_model: int, base: float) -> Tensor:
    """Sine and cosine of pos / base^(2i/d_model), alternating, for any positions, (n,): (n, d_model)."""
    angle = positions.double()[:, None] / _divisors(d_model, base)  # (n, d_model / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()  # (n, d_model)


def sines_first(d_model: int) -> Tensor:
    """The permutation of columns that puts all sines before all cosines: (d_model,).

    Hugging Face's Marian stores `sinusoids(…)[:, sines_first(d_model)]`. Tensor2tensor and the original Marian also put
    the sines first, but divide by base^(i/(d_model/2 - 1)), so that the slowest pair is divided by exactly `base`.
    """
    return torch.arange(d_model).unflatten(0, (-1, 2)).T.flatten()


def _divisors(d_model: int, base: float) -> Tensor:
    """base^(2i/d_model), (d_model / 2,)."""
    if d_model < 2 or d_model % 2:
        raise ValueError(f"Sines and cosines come in pairs, so d must be even and at least 2, but it is {d_model}.")
    if not base > 1:
        raise ValueError(f"The base must be more than 1, or no pair turns more slowly than the first; it is {base:g}.")
    return base ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


class Sinusoidal(Positions):
    """x_i + PE(i): nothing is trained; defined for any length, past `max_len` too."""

    table: Tensor

    def __init__(self, *, max_len: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", self.waves(max_len, d_model), persistent=False)

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(max_len=facts.max_len, d_model=facts.d_embed)

    def embed(self, x: Tensor, tap: Tap, *, past: int = 0) -> Tensor:
        return x + tap("pos_embed", self.first(past + x.shape[1])[None, past:])

    def first(self, length: int) -> Tensor:
        """PE of the first positions, (length, d_model), computed if the table is too short."""
        max_len, d_model = self.table.shape
        return self.table[:length] if length <= max_len else self.waves(length, d_model).to(self.table)

    def waves(self, length: int, d_model: int) -> Tensor:
        return sinusoids(length, d_model)


class SinesFromTwo(Sinusoidal):
    """All sines, then all cosines; the slowest pair is divided by exactly `BASE`, and the first token stands at
    position 2 (fairseq: XGLM, M2M100)."""

    def waves(self, length: int, d_model: int) -> Tensor:
        divisors = _divisors(d_model, BASE) ** (d_model / max(d_model - 2, 1))  # BASE^(2m / (d_model − 2))
        angles = torch.arange(2, length + 2, dtype=torch.float64)[:, None] / divisors  # (length, d_model / 2)
        return torch.cat((angles.sin(), angles.cos()), dim=1).float()


class SinesFirst(Sinusoidal):
    """All sines, then all cosines, otherwise unchanged (Marian)."""

    def waves(self, length: int, d_model: int) -> Tensor:
        return sinusoids(length, d_model)[:, sines_first(d_model)]
