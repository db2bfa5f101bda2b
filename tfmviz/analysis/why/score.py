"""One score before the softmax as an exact sum over pairs of writers (Elhage et al. 2021, "QK circuit").

    score_ij = (W_Q n_i + b_Q) · (W_K n_j + b_K) / divisor + bias_ij = Σ_a Σ_b q_a · k_b / divisor + bias_ij

n_i = Σ_a n_a is the layer's input at the query (see `reading`), n_j at the key. W_Q, W_K and RoPE's rotations are
linear, and so is a norm of queries and keys with its σ held. ALiBi and T5 add bias_ij.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType
from typing import Literal

import numpy as np

from tfmviz.analysis.attention_layer import of_head, turned
from tfmviz.analysis.numpy_attention import turn
from tfmviz.analysis.why.reading import BIASES, Reading, reading
from tfmviz.record.edits import Patch
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import AttentionWeights, ModelWeights, Norm, PositionEffects

Side = Literal["query", "key"]

SIDES: tuple[Side, Side] = ("query", "key")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    layer: str
    head: int
    query: int
    key: int

    def token(self, side: Side) -> int:
        return self.query if side == "query" else self.key


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ScoreSum:
    """A score taken apart.

    Attributes:
        terms: (writer of the query, writer of the key), q_a · k_b / divisor; a vector of the distance counts with the
            biases of the key.
        bias: of the position scheme, or 0.
        cap: c of c · tanh(Σ terms / c), applied before the bias; None: no cap.
        measured: the model's score before the mask.
    """

    readings: dict[Side, Reading]
    terms: Array
    bias: float
    cap: float | None
    measured: float
    is_masked: bool

    @property
    def total(self) -> float:
        """The sum of the terms: `measured`, up to rounding."""
        return self.score_of(float(self.terms.sum()))

    @property
    def residue(self) -> float:
        """|total − measured| over the sum of the terms' absolute values."""
        return abs(self.total - self.measured) / max(float(np.abs(self.terms).sum()) + abs(self.bias), 1e-12)

    def by_writer(self, side: Side) -> Array:
        """Each writer's sum of terms on one side, (writer,)."""
        return self.terms.sum(axis=1 if side == "query" else 0)

    def predicted(self, side: Side, writer: int) -> float:
        """Change of the score without a writer's share, with every σ held."""
        return self.score_of(float(self.terms.sum() - self.by_writer(side)[writer])) - self.total

    def score_of(self, dot: float) -> float:
        return (dot if self.cap is None else self.cap * float(np.tanh(dot / self.cap))) + self.bias


def score_sum(trace: Trace, pair: Pair, weights: ModelWeights, positions: PositionEffects) -> ScoreSum:
    """The score of a pair, taken apart.

    Args:
        positions: effects in this layer; none in cross-attention.

    Raises:
        ValueError: attention is linear, without scores for a softmax.
    """
    attention = weights.attention(pair.layer)
    if attention.is_linear:
        raise ValueError(f"{pair.layer} is linear attention: a product of φ(q) and φ(k) is no sum over writers.")
    readings = {side: reading(trace, pair.layer, side, pair.token(side), weights) for side in SIDES}
    q, k = (
        _turned(_parts(readings[side].shares, _projection(attention, pair.head, side)), positions, pair.token(side))
        for side in SIDES
    )
    related = 0.0
    if positions.vectors is not None:  # a bias of the key for this distance only
        vector = positions.vectors[pair.key - pair.query + len(positions.vectors) // 2].astype(np.float64)
        k[-1] += vector
        related = float(trace[f"{pair.layer}.q"][pair.head, pair.query] @ vector) / attention.divisor
    bias = (
        0.0
        if positions.bias is None
        else float(
            np.broadcast_to(positions.bias, (len(attention.W_Q), *positions.bias.shape[1:]))[
                pair.head, pair.query, pair.key
            ]
        )
    )
    return ScoreSum(
        readings=readings,
        terms=q @ k.T / attention.divisor,
        bias=bias,
        cap=attention.cap,
        measured=measured(trace, pair, attention) + bias + related,
        is_masked=bool(np.isneginf(trace[f"{pair.layer}.scores"][pair.head, pair.query, pair.key])),
    )


def measured(trace: Trace, pair: Pair, attention: AttentionWeights) -> float:
    """A score of the run before bias and mask, from the recorded query and key."""
    q, k = (
        of_head(trace, pair.layer, pair.head, turned(trace, pair.layer, side[0]))[pair.token(side)].astype(np.float64)
        for side in SIDES
    )
    return float(attention.scores(q[None], k[None])[0, 0])


def removal(found: ScoreSum, pair: Pair, weights: ModelWeights, *, side: Side, writer: int) -> Patch:
    """The edit that removes a writer's share from this head's query, or key, of one token.

    The norms get their new σ. Heads that share keys lose it together.
    """
    attention = weights.attention(pair.layer)
    projection = _projection(attention, pair.head, side)
    x, biased = found.readings[side].without(writer), found.readings[side].names[writer] != BIASES
    vector = x @ projection.W + (projection.b if biased else 0)
    if projection.norm is not None:
        vector = projection.norm(vector)[projection.own]
    site = f"{pair.layer}.{side[0]}"
    head = pair.head if side == "query" else _kv_head(attention, pair.head)
    return Patch(site=site, vector=tuple(map(float, vector)), head=head, position=pair.token(side))


def sharing(attention: AttentionWeights, head: int) -> list[int]:
    """The heads that share a head's keys, itself included."""
    size = len(attention.W_Q) // len(attention.W_K)
    first = head // size * size
    return list(range(first, first + size))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Projection:
    """From a layer's input to a query or a key: Norm(x W + b), with an optional norm.

    Attributes:
        own: the head's columns: all, unless a norm reads those of all heads together.
    """

    W: Array
    b: Array
    norm: Norm | None
    own: slice | EllipsisType = ...


def _projection(attention: AttentionWeights, head: int, side: Side) -> _Projection:
    W, b, norm = attention.W_Q, attention.b_Q, attention.q_norm
    if side == "key":
        head = _kv_head(attention, head)
        W, b, norm = attention.W_K, attention.b_K, attention.k_norm
    d_head = W.shape[-1]
    if norm is None or len(norm.gain) == d_head:
        return _Projection(W=W[head].astype(np.float64), b=b[head], norm=norm)
    own = slice(head * d_head, (head + 1) * d_head)
    return _Projection(W=np.concatenate(W.astype(np.float64), axis=1), b=b.reshape(-1), norm=norm, own=own)


def _kv_head(attention: AttentionWeights, head: int) -> int:
    return head * len(attention.W_K) // len(attention.W_Q)


def _parts(shares: Array, projection: _Projection) -> Array:
    """Each writer's part of a query or key, (writer, d_head); b belongs to the biases, the last writer."""
    parts = shares @ projection.W
    parts[-1] += projection.b
    if projection.norm is not None:
        parts = projection.norm.carry(parts, at=parts.sum(axis=0))
        parts[-1] += projection.norm.bias
    return parts[:, projection.own]


def _turned(parts: Array, positions: PositionEffects, token: int) -> Array:
    if positions.angles is None:
        return parts
    return np.asarray(turn(parts, positions.angles[token].astype(np.float64)))  # type: ignore[no-untyped-call]
