"""The forms of a mask, and their effects on the same scores."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array

LARGE = np.float32(-1e9)
"""Added to a forbidden score instead of −∞ in older code."""


def additive(mask: Array) -> Array:
    """The mask as an addend of the scores: 0 where True, −∞ where False."""
    return np.where(mask, 0.0, -np.inf)


def softmax_under(scores: Array, mask: Array, blocked: float) -> Array:
    """Softmax of scores + (0 or `blocked`), in float32 as in models.

    With −∞ an empty row is 0/0 = NaN. With a large negative number rounding absorbs its scores (those below 32 next to
    −1e9), and the row is uniform over keys that are all forbidden.

    Args:
        scores: (…, key), unmasked.
        mask: the same shape, True = may attend.
    """
    shown = (scores.astype(np.float32) + np.where(mask, np.float32(0), np.float32(blocked))).astype(np.float32)
    with np.errstate(invalid="ignore"):
        powers = np.exp(shown - shown.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)
