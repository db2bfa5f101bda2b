"""The forms of a mask, and what each makes of the same scores."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array

LARGE = np.float32(-1e9)
"""What older code adds to a forbidden score instead of −∞."""


def additive(mask: Array) -> Array:
    """0 where a query may look, −∞ where not: what is added to the scores."""
    return np.where(mask, 0.0, -np.inf)


def softmax_under(scores: Array, mask: Array, blocked: float) -> Array:
    """Softmax of scores + (0 or `blocked`), in float32 as models compute it.

    With −∞ an empty row is 0/0 = NaN. With a large negative number rounding swallows its scores (those below 32 beside
    −1e9), and the row spreads evenly over keys that are all forbidden.

    Args:
        scores: (…, key), unmasked.
        mask: the same shape, True = may attend.
    """
    shown = (scores.astype(np.float32) + np.where(mask, np.float32(0), np.float32(blocked))).astype(np.float32)
    with np.errstate(invalid="ignore"):
        powers = np.exp(shown - shown.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)
