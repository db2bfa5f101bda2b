"""Recurrent networks as classifiers of languages."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array


def from_mean_of_states(logits: Array) -> Array:
    """The logits of a linear classifier on the mean of the states h_1 … h_t.

    W (h_1 + … + h_t) / t + b is the mean of the t states' logits.

    Args:
        logits: (…, len, label), from every state alone.
    """
    return np.cumsum(logits, axis=-2, dtype=np.float64) / np.arange(1, logits.shape[-2] + 1)[:, None]


def since_change(labels: Array) -> Array:
    """Tokens since the last change of (…, len) labels, this one included; 0 before the first."""
    place = np.arange(labels.shape[-1])
    is_new = np.zeros(labels.shape, dtype=bool)
    is_new[..., 1:] = labels[..., 1:] != labels[..., :-1]
    last = np.maximum.accumulate(np.where(is_new, place, -1), axis=-1)
    return np.where(last < 0, 0, place - last + 1)


def until_change(labels: Array) -> Array:
    """Tokens before the next change, this one included; 0 after the last."""
    return since_change(labels[..., ::-1])[..., ::-1]


def share_by(right: Array, place: Array, *, longest: int) -> Array:
    """Share of right answers among the tokens at `place` 1 … `longest`; NaN if there is no token."""
    inside = (place >= 1) & (place <= longest)
    found = place[inside] - 1
    hits = np.bincount(found, weights=right[inside], minlength=longest)
    with np.errstate(invalid="ignore"):
        return hits / np.bincount(found, minlength=longest)
