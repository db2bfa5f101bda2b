"""The division of scores by √d."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.predictions import softmax
from tfmviz.record.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Sharpness:
    """Statistics of a softmax, averaged over the rows with several allowed keys.

    Attributes:
        variance: of allowed scores.
        largest: the row's largest share a_i, in [0, 1].
        evenness: entropy of the row over that of an even spread, in [0, 1].
        gradient: Frobenius norm of ∂a/∂scores = diag(a) − a aᵀ.
    """

    variance: float
    largest: float
    evenness: float
    gradient: float


def unit_vectors(d: int, *, n_queries: int, n_keys: int, seed: int) -> tuple[Array, Array]:
    """Queries (n_queries, d) and keys (n_queries, n_keys, d) with independent standardised coordinates."""
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n_queries, d), dtype=np.float32),
        rng.standard_normal((n_queries, n_keys, d), dtype=np.float32),
    )


def dot_products(q: Array, k: Array) -> Array:
    """Scores q_i · k_ij, (query, key), with separate keys for each query; Var = d for `unit_vectors`."""
    return np.einsum("id,ijd->ij", q, k)


def sharpness(scores: Array, mask: Array) -> Sharpness:
    """Measures the softmax of `scores`.

    Args:
        scores: (query, key), unmasked.
        mask: (query, key), True = may attend.
    """
    choices = mask.sum(axis=-1)
    rows = choices > 1
    variance = float(scores[mask].var()) if mask.sum() > 1 else float("nan")
    if not rows.any():
        return Sharpness(variance=variance, largest=float("nan"), evenness=float("nan"), gradient=float("nan"))
    shares = softmax(np.where(mask, scores, -np.inf)[rows])
    return Sharpness(
        variance=variance,
        largest=float(shares.max(axis=-1).mean()),
        evenness=float((entropy(shares) / np.log(choices[rows])).mean()),
        gradient=float(gradient_norms(shares).mean()),
    )


def entropy(shares: Array) -> Array:
    """−Σ a log a over the last axis, in nats; 0 log 0 is 0."""
    log = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    return -(shares * log).sum(axis=-1)


def gradient_norms(shares: Array) -> Array:
    """‖diag(a) − a aᵀ‖ for every row a: (row,). 0 for a one-hot row.

    The square is Σ_i a_i² (1 − a_i)² + Σ_{i≠j} a_i² a_j² = Σ a² − 2 Σ a³ + (Σ a²)².
    """
    squares = (shares**2).sum(axis=-1)
    return np.sqrt(np.maximum(squares - 2 * (shares**3).sum(axis=-1) + squares**2, 0))


def histogram(scores: Array, *, largest: float, bins: int = 41) -> tuple[Array, Array]:
    """Centres of equal bins on [−largest, largest], and the share of all scores in each."""
    counts, edges = np.histogram(scores, bins=bins, range=(-largest, largest))
    return (edges[:-1] + edges[1:]) / 2, counts / max(scores.size, 1)
