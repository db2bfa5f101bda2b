"""Learning rates by step."""

from __future__ import annotations

import math


def cosine(step: int, *, warmup: int, steps: int, floor: float = 0.1) -> float:
    """A factor that rises linearly from 0 to 1 over `warmup` steps, then falls along a half cosine to `floor`.

    Args:
        step: from 0; the factor for the update with this number.
        steps: length of the run; later steps stay at `floor`.

    Returns:
        In (0, 1].
    """
    if step < warmup:
        return (step + 1) / warmup
    progress = min((step - warmup) / max(steps - warmup, 1), 1.0)
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2


def noam(step: int, *, d_model: int, warmup: int = 4000) -> float:
    """The learning rate of Vaswani et al. 2017, section 5.3: d_model^-½ · min(s^-½, s · warmup^-3/2), s = step + 1."""
    s = step + 1
    return d_model**-0.5 * min(s**-0.5, s * warmup**-1.5)
