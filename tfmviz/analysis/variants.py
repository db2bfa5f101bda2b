"""Tests of whether two models differ by more than their seeds do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfmviz.record.trace import Array

T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""The 97.5 % point of Student's t distribution with 1, 2 … 10 degrees of freedom."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A difference of means with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """True if the interval holds 0."""
        return self.low <= 0 <= self.high


def welch(ours: Array, theirs: Array) -> Difference:
    """Mean of `ours` minus mean of `theirs`, with Welch's interval, which does not assume equal spreads.

    The standard error is √(s₁² / n₁ + s₂² / n₂); the degrees of freedom are Welch's (1947), rounded down, at most 10.

    Args:
        ours, theirs: at least two runs each.
    """
    assert min(len(ours), len(theirs)) > 1
    parts = [float(runs.var(ddof=1)) / len(runs) for runs in (ours, theirs)]
    mean = float(ours.mean() - theirs.mean())
    if not (total := sum(parts)):
        return Difference(mean=mean, low=mean, high=mean)
    freedom = total**2 / sum(part**2 / (len(runs) - 1) for part, runs in zip(parts, (ours, theirs), strict=True))
    half = T_975[min(math.floor(freedom), len(T_975)) - 1] * math.sqrt(total)
    return Difference(mean=mean, low=mean - half, high=mean + half)
