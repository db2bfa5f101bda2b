"""Attention by features: φ(q) · φ(k) replaces exp(q · k), so keys are summed before a query is known.

Linear attention takes φ(x) = elu(x) + 1 (Katharopoulos et al. 2020), which is another attention. Performer takes random
features whose products are exp(q · k) on average (Choromanski et al. 2021).
"""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.efficient.exact import Cost
from tfmviz.record.trace import Array


def pattern(phi_q: Array, phi_k: Array, allowed: Array) -> Array:
    """φ(q_i) · φ(k_j) over their sum, for the allowed pairs: (q_len, k_len)."""
    products = np.where(allowed, phi_q @ phi_k.T, 0.0)
    return products / products.sum(axis=-1, keepdims=True)


def attend(phi_q: Array, phi_k: Array, v: Array) -> Array:
    """Without a mask: φ(q) (φ(k)ᵀ v) / φ(q) Σ φ(k), forming no pair: (q_len, d)."""
    return (phi_q @ (phi_k.T @ v)) / (phi_q @ phi_k.sum(axis=0)[:, None])


def running(phi_q: Array, phi_k: Array, v: Array) -> Array:
    """With a causal mask, token by token, from the state Σ φ(k) vᵀ and Σ φ(k): (len, d)."""
    state, total = np.zeros((phi_k.shape[1], v.shape[1])), np.zeros(phi_k.shape[1])
    out = np.empty((len(phi_q), v.shape[1]))
    for i, (query, key, value) in enumerate(zip(phi_q, phi_k, v, strict=True)):
        state, total = state + np.outer(key, value), total + key
        out[i] = query @ state / (query @ total)
    return out


def random_directions(n_features: int, d: int, seed: int) -> Array:
    """(n_features, d): blocks of d orthogonal directions with the norms of normal ones (Performer, section 2.4)."""
    rng = np.random.default_rng(seed)
    blocks, triangles = np.linalg.qr(rng.standard_normal((-(-n_features // d), d, d)))
    # Without the signs some directions would be more frequent than their opposites (Mezzadri 2007).
    blocks = blocks * np.sign(np.diagonal(triangles, axis1=-2, axis2=-1))[:, None, :]
    lengths = np.linalg.norm(rng.standard_normal((n_features, d)), axis=-1)
    return blocks.reshape(-1, d)[:n_features] * lengths[:, None]


def positive(x: Array, directions: Array, *, shift: float | Array = 0.0) -> Array:
    """exp(w · x − |x|²/2) / √m for each of m directions w: (len, m). E[φ(q) · φ(k)] = exp(q · k), equation 5.

    Args:
        shift: subtracted from the exponent against overflow.
    """
    exponent = x @ directions.T - (x**2).sum(axis=-1, keepdims=True) / 2
    return np.exp(exponent - shift) / np.sqrt(len(directions))


def performer(q: Array, k: Array, directions: Array) -> tuple[Array, Array]:
    """φ(q), each query with its own factor, and φ(k), all with one: (len, m) each."""
    largest = [x @ directions.T - (x**2).sum(axis=-1, keepdims=True) / 2 for x in (q, k)]
    queries = positive(q, directions, shift=largest[0].max(axis=-1, keepdims=True))
    return queries + 1e-12, positive(k, directions, shift=largest[1].max()) + 1e-12


def cost(q_len: int, k_len: int, d: int, n_features: int, *, drawn: bool) -> Cost:
    """Key by value into the state, query by state, and the denominator.

    Args:
        drawn: True if the features are products with random directions.
    """
    making = (q_len + k_len) * d * n_features if drawn else 0
    return Cost(
        multiplications=making + (q_len + k_len) * n_features * d + q_len * n_features,
        numbers=n_features * (d + 1) + 2 * n_features,
    )
