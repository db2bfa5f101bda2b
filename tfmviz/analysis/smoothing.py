"""Label smoothing (L9)."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array


def smoothed(target: int, *, epsilon: float, vocab_size: int) -> Array:
    """q: 1 − ε on the target, and ε spread over all entries (Szegedy et al. 2016): (vocab,)."""
    q = np.full(vocab_size, epsilon / vocab_size)
    q[target] += 1 - epsilon
    return q


def divergence(q: Array, log_p: Array) -> float:
    """KL(q ‖ p) = Σ q (ln q − ln p), in nats, with 0 ln 0 = 0."""
    full = q > 0
    return float((q[full] * (np.log(q[full]) - log_p[full])).sum())


def gradient(q: Array, log_p: Array) -> Array:
    """∂ KL(q ‖ softmax(z)) / ∂ z = p − q, per logit: (vocab,)."""
    return np.exp(log_p) - q
