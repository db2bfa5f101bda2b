"""Sparse attention: most pairs are left out (Child et al. 2019; Beltagy et al. 2020; Zaheer et al. 2020).

Window, dilated window and BigBird depend only on positions, and are in `masks.py`. Top-k (Gupta et al. 2021) needs all
scores, and saves only the rest.
"""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.efficient.exact import Cost, softmax
from tfmviz.record.trace import Array


def pattern(scores: Array, kept: Array) -> Array:
    """Softmax over the kept pairs.

    Args:
        scores: (q_len, k_len), −∞ where masked.
        kept: (q_len, k_len), at least one for each query.
    """
    return softmax(np.where(kept, scores, -np.inf))


def or_all(kept: Array, allowed: Array) -> Array:
    """The pairs kept and allowed; a query without any gets all allowed ones."""
    left = kept & allowed
    return np.where(left.any(axis=-1, keepdims=True), left, allowed)


def top(scores: Array, k: int) -> Array:
    """The k largest scores of each query, fewer if fewer are allowed: (q_len, k_len), bool."""
    order = np.argsort(-scores, axis=-1, kind="stable")[:, :k]
    kept = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(kept, order, True, axis=-1)
    return kept & np.isfinite(scores)


def attend(q: Array, k: Array, v: Array, radius: int) -> Array:
    """A window of `radius` keys on either side, key by key: (len, d)."""
    n, width = len(q), 2 * radius + 1
    around = [(radius, radius), (0, 0)]
    keys, values = (
        np.lib.stride_tricks.sliding_window_view(np.pad(x, around), width, axis=0) for x in (k, v)
    )  # (len, d, width)
    scores = (q[:, None, :] @ keys)[:, 0]  # (len, width)
    place = np.arange(n)[:, None] + np.arange(-radius, radius + 1)
    shares = softmax(np.where((place >= 0) & (place < n), scores, -np.inf))
    return (shares[:, None, :] @ values.swapaxes(1, 2))[:, 0]


def cost(pairs: int, d: int, *, scores: int | None = None) -> Cost:
    return Cost(multiplications=(pairs + (pairs if scores is None else scores)) * d, numbers=pairs)
