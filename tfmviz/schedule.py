"""Learning rates as functions of the step."""

from __future__ import annotations

import math


def cosine(step: int, *, warmup: int, steps: int, floor: float = 0.1) -> float:
    """A factor in (0, 1] that rises linearly to 1 over `warmup` steps, then falls along a half cosine to `floor`."""
    if step < warmup:
        return (step + 1) / warmup
    progress = min((step - warmup) / max(steps - warmup, 1), 1.0)
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2


def noam(step: int, *, d_model: int, warmup: int = 4000) -> float:
    """The learning rate of Vaswani et al. 2017, section 5.3: d_model^-½ · min(s^-½, s · warmup^-3/2), s = step + 1."""
    return noam_peak(d_model=d_model, warmup=warmup) * noam_factor(step, warmup=warmup)


def noam_peak(*, d_model: int, warmup: int) -> float:
    """The largest learning rate of `noam`, (d_model · warmup)^-½."""
    return (d_model * warmup) ** -0.5


def noam_factor(step: int, *, warmup: int) -> float:
    """`noam` divided by its peak."""
    s = step + 1
    return min(s / warmup, (warmup / s) ** 0.5)
