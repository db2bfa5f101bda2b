"""Angles between the subspaces of the stream that a head writes and a later part reads."""

from __future__ import annotations

from functools import cache

import numpy as np

from tfmviz.analysis.attention_layer import grouped
from tfmviz.analysis.why.composition import DRAWS, Composition, Way, of_all_pairs, through_norm
from tfmviz.record.trace import Array
from tfmviz.record.weights import StackWeights


def overlaps(weights: StackWeights, way: Way) -> Composition:
    """The mean of cos² over the principal angles of each pair of heads in different layers.

    A head writes into the span of the d_head rows of W_O, and reads from that of the columns of W_Q, W_K or W_V. At 1
    it reads all that the earlier one can write, at 0 nothing.
    """
    return of_all_pairs(
        weights,
        written=lambda layer: _written(weights, layer),
        read=lambda layer: _read(weights, layer, way),
        compare=lambda written, read: shared(written[:, None], read[None]),
        chance=by_chance,
    )


def overlaps_with_mlps(weights: StackWeights) -> tuple[tuple[str, ...], Array]:
    """The same for later feed-forward layers, by the d_head directions that W_in reads most: (head, layer)."""
    written = {layer: _written(weights, layer) for layer in weights.attention if layer.endswith(".self_attn")}
    mlps = tuple(weights.feed_forward)
    n_heads, _, d_head = next(iter(written.values())).shape
    values = np.full((n_heads * len(written), len(mlps)), np.nan)
    for column, mlp in enumerate(mlps):
        read = through_norm(weights, mlp, weights.feed_forward[mlp].W_in.astype(np.float64))
        most = np.linalg.eigh(read @ read.T)[1][:, -d_head:]  # the left singular vectors of the largest values
        for n, layer in enumerate(list(written)[: column + 1]):
            block = np.s_[n * n_heads : (n + 1) * n_heads, column]
            values[block] = shared(written[layer], most[None])
    return mlps, values


def cosines(one: Array, other: Array) -> Array:
    """The cosines of the principal angles between subspaces with orthonormal bases (…, d_model, n): (…, n), falling.

    The singular values of the product of the bases (Björck and Golub 1973).
    """
    return np.linalg.svd(one.swapaxes(-1, -2) @ other, compute_uv=False).clip(0, 1)


def shared(one: Array, other: Array) -> Array:
    """The mean of their squares: ‖Aᵀ B‖² / n, in Frobenius' norm."""
    return ((one.swapaxes(-1, -2) @ other) ** 2).sum(axis=(-1, -2)) / one.shape[-1]


def smallest_angle(weights: StackWeights, earlier: tuple[str, int], later: tuple[str, int], way: Way) -> float:
    """Of one pair of heads, in degrees."""
    one, other = _written(weights, earlier[0])[earlier[1]], _read(weights, later[0], way)[later[1]]
    return float(np.degrees(np.arccos(cosines(one, other)[0])))


def _written(weights: StackWeights, layer: str) -> Array:
    """(head, d_model, d_head), orthonormal."""
    return np.linalg.qr(weights.attention[layer].W_O_carried.astype(np.float64).swapaxes(-1, -2))[0]


def _read(weights: StackWeights, layer: str, way: Way) -> Array:
    """(head, d_model, d_head), orthonormal."""
    attention = weights.attention[layer]
    W = grouped({"Q": attention.W_Q, "K": attention.W_K, "V": attention.W_V}[way], len(attention.W_Q))
    return np.linalg.qr(through_norm(weights, layer, W.astype(np.float64)))[0]


@cache
def by_chance(d_model: int, d_head: int) -> tuple[float, float, float]:
    """Low, mean and high for random subspaces; the mean is d_head / d_model."""
    rng = np.random.default_rng(0)
    one, other = np.linalg.qr(rng.standard_normal((2, DRAWS, d_model, d_head)))[0]
    low, high = np.quantile(shared(one, other), (0.025, 0.975))
    return float(low), d_head / d_model, float(high)
