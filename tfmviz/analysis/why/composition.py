"""Composition of heads: Q-, K- and V-composition (Elhage et al. 2021, "Composition")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeVar, assert_never

import numpy as np

from tfmviz.analysis.attention_layer import grouped, stream_before
from tfmviz.record.edits import Patch
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import StackWeights

Way = Literal["Q", "K", "V"]

Part = TypeVar("Part")

WAYS: tuple[Way, ...] = ("Q", "K", "V")

DRAWS = 100
"""Random pairs of heads behind a baseline."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Composition:
    """‖A B‖ / (‖A‖ ‖B‖), in Frobenius norms, for each pair of heads in different layers.

    A = W_V W_O is the earlier head's map. B is the later one's: W_Q W_Kᵀ on the query's side, its transpose on the
    key's, W_V W_O in the value. If a norm precedes a layer, its centring and its γ belong to the matrices; RoPE is left
    out.

    Attributes:
        heads: layer and head of each row and column, in the model's order.
        values: (earlier head, later head), in [0, 1]; NaN if the second is not later.
        by_chance: of random heads of this shape, the 95% interval and the mean: low, mean, high.
    """

    heads: tuple[tuple[str, int], ...]
    values: Array
    by_chance: tuple[float, float, float]


def compositions(weights: StackWeights, way: Way) -> Composition:
    """All pairs of heads in a stack's self-attention, by the weights alone."""
    return of_all_pairs(
        weights,
        written=lambda layer: _factors(weights, layer, "V"),
        read=lambda layer: _factors(weights, layer, way),
        compare=between,
        chance=by_chance,
    )


def of_all_pairs(
    weights: StackWeights,
    *,
    written: Callable[[str], Part],
    read: Callable[[str], Part],
    compare: Callable[[Part, Part], Array],
    chance: Callable[[int, int], tuple[float, float, float]],
) -> Composition:
    """Compares all heads of each layer of self-attention with all of each later one.

    Args:
        written, read: a layer's heads in either role.
        compare: gives (earlier head, later head) for two layers.
        chance: gives low, mean and high, from d_model and d_head.
    """
    layers = [layer for layer in weights.attention if layer.endswith(".self_attn")]
    heads = [(layer, head) for layer in layers for head in range(len(weights.attention[layer].W_Q))]
    values = np.full((len(heads), len(heads)), np.nan)
    n_heads = len(heads) // len(layers)
    writers = [written(layer) for layer in layers]
    for later in range(1, len(layers)):
        reader = read(layers[later])
        for earlier in range(later):
            block = np.s_[earlier * n_heads : (earlier + 1) * n_heads, later * n_heads : (later + 1) * n_heads]
            values[block] = compare(writers[earlier], reader)
    _, d_model, d_head = weights.attention[layers[0]].W_Q.shape
    return Composition(heads=tuple(heads), values=values, by_chance=chance(d_model, d_head))


Factors = tuple[Array, Array]
"""Matrices X Yᵀ of some heads by their thin factors, (head, d_model, d_head) each."""


def between(written: Factors, read: Factors) -> Array:
    """‖A B‖ / (‖A‖ ‖B‖) for all pairs: (head of A, head of B).

    With A = V O and B = X Yᵀ: ‖V M Yᵀ‖² = tr(Mᵀ (VᵀV) M (YᵀY)), M = O X.
    """
    (V, outputs), (X, Y) = written, read
    M = np.einsum("amd,bme->abde", outputs, X, optimize=True)
    squared = ((_gram(V)[:, None] @ M) * (M @ _gram(Y)[None])).sum(axis=(-1, -2))
    lengths = np.outer(_squared(V, outputs), _squared(X, Y))
    return np.sqrt(np.divide(squared, lengths, where=lengths > 0, out=np.full(squared.shape, np.nan)))


def _gram(x: Array) -> Array:
    return x.swapaxes(-1, -2) @ x


def _squared(x: Array, y: Array) -> Array:
    """‖x yᵀ‖² of each head."""
    return (_gram(x) * _gram(y)).sum(axis=(-1, -2))


def _factors(weights: StackWeights, layer: str, way: Way) -> Factors:
    attention = weights.attention[layer]
    n_heads = len(attention.W_Q)
    q, k, v = (through_norm(weights, layer, grouped(W, n_heads)) for W in (attention.W_Q, attention.W_K, attention.W_V))
    match way:
        case "Q":
            return q, k
        case "K":
            return k, q
        case "V":
            return v, attention.W_O_carried.swapaxes(1, 2)
        case _:
            assert_never(way)


def through_norm(weights: StackWeights, layer: str, W: Array) -> Array:
    """W with the centring and the γ of the norm before it, up to σ; W itself in a post-norm model."""
    if weights.readout.norm is None:
        return W
    norm = weights.norms[layer]
    return norm.centred((norm.gain[:, None] * W).swapaxes(-1, -2)).swapaxes(-1, -2)


def removals(
    trace: Trace, earlier: tuple[str, int], later: tuple[str, int], way: Way, weights: StackWeights
) -> tuple[Patch, ...]:
    """The edits that remove one head's output from another's queries, keys or values, of all tokens.

    The stream without that write goes through the norm, with its new σ.

    Args:
        earlier, later: layer and head, in a pre-norm stack.
    """
    (source, head), (layer, reader) = earlier, later
    written = weights.attention[source].writes(trace[f"{source}.z"].astype(np.float64))[head]  # (len, d_model)
    x = weights.norms[layer](stream_before(trace, layer) - written)
    attention = weights.attention[layer]
    W, b, norm = {
        "Q": (attention.W_Q, attention.b_Q, attention.q_norm),
        "K": (attention.W_K, attention.b_K, attention.k_norm),
        "V": (attention.W_V, attention.b_V, None),
    }[way]
    reader = reader * len(W) // len(attention.W_Q)
    made = np.einsum("nm,hmd->nhd", x, W) + b  # (len, head, d_head)
    if norm is not None:
        over = made if len(norm.gain) == made.shape[-1] else made.reshape(len(made), -1)  # of each head, or of all
        made = norm(over).reshape(made.shape)
    vectors = made[:, reader]
    return tuple(
        Patch(site=f"{layer}.{way.lower()}", vector=tuple(vector), head=reader, position=position)
        for position, vector in enumerate(vectors.tolist())
    )


@cache
def by_chance(d_model: int, d_head: int) -> tuple[float, float, float]:
    """Low, mean and high of the composition of random heads with normal entries: about 1 / √d_model."""
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((4, DRAWS, d_model, d_head), dtype=np.float32)
    found = np.array([between((v[None], o[None]), (x[None], y[None]))[0, 0] for v, o, x, y in zip(*drawn, strict=True)])
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(found.mean()), float(high)
