"""The costs of four kinds of layers (Vaswani et al. 2017, table 1), and the growth of measured costs.

n is the length of the text, d the width of its vectors, k a convolution's kernel size, r the neighbourhood of
restricted attention. As in the table, projections (4 · n · d² for any attention) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tfmviz.record.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Sizes of a layer: k is at least 2, the others at least 1."""

    n: int
    d: int
    k: int
    r: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of layer, with its costs as functions of the sizes.

    Attributes:
        order: its cost in the paper's table.
        multiplications: with the factors that an order omits.
        path: layers, or steps within one, until all tokens have met.
        numbers: values held besides its input, if computed as written.
        exponents: of the growth of the multiplications, (with n, with d).
    """

    name: str
    order: str
    multiplications: Callable[[Sizes], int]
    steps: Callable[[Sizes], int]
    path: Callable[[Sizes], int]
    numbers: Callable[[Sizes], int]
    exponents: tuple[int, int]


def _path_of_convolutions(s: Sizes) -> int:
    """⌈log_k n⌉ layers, each dilated k times as much as the one below."""
    return math.ceil(math.log(max(s.n, 2), s.k) - 1e-9)


KINDS = (
    Kind(
        name="self-attention",
        order="n² · d",
        multiplications=lambda s: 2 * s.n**2 * s.d,
        steps=lambda s: 1,
        path=lambda s: 1,
        numbers=lambda s: 2 * s.n**2 + s.n * s.d,
        exponents=(2, 1),
    ),
    Kind(
        name="recurrent",
        order="n · d²",
        multiplications=lambda s: 2 * s.n * s.d**2,
        steps=lambda s: s.n,
        path=lambda s: s.n,
        numbers=lambda s: 2 * s.n * s.d,
        exponents=(1, 2),
    ),
    Kind(
        name="convolution",
        order="k · n · d²",
        multiplications=lambda s: s.k * s.n * s.d**2,
        steps=lambda s: 1,
        path=_path_of_convolutions,
        numbers=lambda s: s.n * s.d,
        exponents=(1, 2),
    ),
    Kind(
        name="restricted attention",
        order="r · n · d",
        multiplications=lambda s: 2 * min(s.r, s.n) * s.n * s.d,
        steps=lambda s: 1,
        path=lambda s: math.ceil(s.n / s.r),
        numbers=lambda s: 2 * min(s.r, s.n) * s.n + 5 * s.n * s.d,
        exponents=(1, 1),
    ),
)
"""The rows of the table."""

FUSED = replace(KINDS[0], name="fused self-attention", numbers=lambda s: s.n * s.d)
"""Self-attention in one kernel, which never stores a whole pattern."""

MEASURED = (*KINDS, FUSED)


def slope(x: Array, y: Array, *, last: int = 4) -> float:
    """The exponent p of y ≈ c · xᵖ: the least-squares slope of log y against log x; NaN for fewer than two finite
    points above 0.

    Args:
        last: number of the largest sizes used: at small ones other costs hide the growth.
    """
    fine = np.flatnonzero(np.isfinite(y) & (y > 0))[-last:]
    if len(fine) < 2:
        return math.nan
    return float(np.polyfit(np.log(x[fine]), np.log(y[fine]), 1)[0])


def crosses(x: Array, one: Array, other: Array) -> float | None:
    """The x at which `one` rises above `other` for good, interpolated on logarithmic axes; None: nowhere."""
    fine = np.isfinite(one) & np.isfinite(other)
    at, gap = np.log(x[fine]), np.log(one[fine]) - np.log(other[fine])
    below = np.flatnonzero(gap <= 0)
    if not len(below) or below[-1] == len(gap) - 1:
        return None
    i = int(below[-1])
    return float(np.exp(at[i] + (at[i + 1] - at[i]) * gap[i] / (gap[i] - gap[i + 1])))


def continued(x: Array, y: Array, to: float) -> float:
    """The value at `to` on the line through the last point with the slope of `slope`; NaN if there is none."""
    fine = np.flatnonzero(np.isfinite(y) & (y > 0))
    if len(fine) < 2:
        return math.nan
    return float(y[fine[-1]] * (to / x[fine[-1]]) ** slope(x, y))
