"""RoPE's effect on the products of queries and keys (Su et al. 2021), and the distances of relative schemes.

Two neighbouring coordinates are one complex number, and rotation multiplies it by e^(i·angle). For a query at i and a
key at j, the product

    q · k = Re Σ_m h_m e^(i(i-j)θ_m),   h_m = q_m k_m*

depends only on i - j. `theta` is always (d_head / 2,), radians per position.
"""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.numpy_attention import turn
from tfmviz.record.trace import Array

FARTHEST = 10**9
"""Largest position: beyond it a float64 angle is too coarse for the circle."""


def angles(positions: Array, theta: Array) -> Array:
    """position · θ_m: (position, d_head / 2), radians.

    Raises:
        ValueError: a position is farther from 0 than `FARTHEST`.
    """
    if np.abs(positions).max(initial=0) > FARTHEST:
        raise ValueError(
            f"Positions up to {FARTHEST:,} can be computed; beyond that, the angle i · θ has too few exact digits left "
            "to say where on the circle it is."
        )
    return np.asarray(positions, dtype=np.float64)[:, None] * theta


def complex_pairs(x: Array) -> Array:
    """Neighbouring coordinates as complex numbers: (…, d_head) to (…, d_head / 2)."""
    x = x.astype(np.float64)
    return x[..., ::2] + 1j * x[..., 1::2]


def by_distance(h: Array, theta: Array, distances: Array) -> Array:
    """Re Σ_m h_m e^(i · distance · θ_m), (…, n).

    Args:
        h: (…, d_head / 2), q_m k_m*.
        distances: (n,).
    """
    return (h @ np.exp(1j * np.outer(theta, distances))).real


def mean_of_all_pairs(q: Array, k: Array, theta: Array, distances: Array) -> Array:
    """Mean product of every query with every key, at each distance: (n,).

    The mean of q_m k_m* over all pairs is the product of the means.

    Args:
        q, k: (len, d_head), before rotation.
    """
    return by_distance(complex_pairs(q).mean(axis=0) * complex_pairs(k).mean(axis=0).conj(), theta, distances)


def partial_sums(theta: Array, distances: Array) -> Array:
    """|S_j| for j = 1 … d_head / 2 with S_j = Σ_{m<j} e^(i · distance · θ_m): (n, d_head / 2)."""
    return np.abs(np.cumsum(np.exp(1j * np.outer(distances, theta)), axis=1))


def relative_bound(theta: Array, distances: Array) -> Array:
    """The paper's upper bound as a function of the distance alone: the mean of |S_j| over j, (n,) (section 3.4.3)."""
    return partial_sums(theta, distances).mean(axis=1)


def bound(q: Array, k: Array, theta: Array, distances: Array) -> Array:
    """Upper bound of |q · k|, (n,), at each distance: max_m |h_{m+1} - h_m| · Σ_j |S_j|, with h = 0 past the last pair.

    The triangle inequality after summation by parts (section 3.4.3).

    Args:
        q, k: (d_head,).
    """
    h = complex_pairs(q) * complex_pairs(k).conj()
    return np.abs(np.diff(h, append=0)).max() * partial_sums(theta, distances).sum(axis=1)


def random_products(theta: Array, distances: Array, *, n: int, seed: int) -> tuple[Array, Array]:
    """Mean of q · k / d_head over `n` random vectors of variance 1: (n_distances,) each.

    Returns:
        For keys equal to their queries, about (2 / d_head) Σ_m cos(distance · θ_m). For independent keys, about 0.
    """
    rng = np.random.default_rng(seed)
    d_head = 2 * len(theta)
    q, k = rng.standard_normal((2, n, d_head))
    same, other = ((complex_pairs(q) * complex_pairs(key).conj()).mean(axis=0) for key in (q, k))
    return by_distance(same, theta, distances) / d_head, by_distance(other, theta, distances) / d_head


def unmet(theta: Array, stretched: Array, *, trained: int, scale: int) -> tuple[Array, Array]:
    """Indices of the pairs that turned less than full circle in training, and of those that now turn farther.

    Args:
        stretched: (d_head / 2,), the angles used in a text `scale` times as long as the `trained` positions.
    """
    known = trained * theta
    partly = np.flatnonzero(known < 2 * np.pi)
    return partly, partly[((scale * trained - 1) * stretched > known)[partly]]


def halves_order(d_head: int) -> Array:
    """The interleaved layout's coordinates in the halves layout: evens, then odds."""
    return np.arange(d_head).reshape(-1, 2).T.ravel()


def turn_halves(x: Array, by: Array) -> Array:
    """Rotates coordinate m with m + d_head / 2, as LLaMA-style code does.

    Args:
        x: (…, len, d_head), in the halves layout.
        by: (len, d_head / 2), radians.
    """
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate((first * np.cos(by) - second * np.sin(by), first * np.sin(by) + second * np.cos(by)), axis=-1)


def turn_pairs(x: Array, by: Array) -> Array:
    """Rotates coordinates 2m and 2m + 1, as in the paper: (…, len, d_head), `by` (len, d_head / 2)."""
    return turn(x.astype(np.float64), by)  # type: ignore[no-untyped-call]


def relative_index(q_len: int, k_len: int, *, clip: int) -> Array:
    """clip(j - i, -k, k) + k, (q_len, k_len): the learned vector of a pair of positions (Shaw et al. 2018, section
    3.2).

    Args:
        clip: k; there are 2k + 1 vectors.

    Raises:
        ValueError: `clip` is below 1.
    """
    if clip < 1:
        raise ValueError(f"The clipping distance must be at least 1, but is {clip}.")
    return np.clip(np.arange(k_len) - np.arange(q_len)[:, None], -clip, clip) + clip
