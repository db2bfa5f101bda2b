"""Position schemes compared by scores and losses."""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.attention_layer import grouped
from tfmviz.analysis.predictions import softmax
from tfmviz.analysis.rotations import turn_pairs
from tfmviz.record.trace import Array
from tfmviz.record.weights import AttentionWeights, Norm, PositionEffects

WINDOW = 16
"""Positions averaged per point of a loss curve."""

RISE = 0.1
"""Largest rise of the loss far past the trained length with which a scheme extrapolates, in nats per token."""


def four_terms(x: Array, p: Array, *, norm: Norm, weights: AttentionWeights, head: int) -> Array:
    """The scores of the first layer, before the mask, as a sum over words and positions.

    q_i = W_Q LayerNorm(x_i + p_i) + b_Q is linear in x_i + p_i once the norm's standard deviation σ_i is held at its
    measured value. Then x_i and p_i pass through separately. The norm's bias, b_Q and b_K count with the word.

    Args:
        x: (len, d_model).
        p: (len, d_model).

    Returns:
        (4, len, len): word · word, word · position, position · word, position · position, the query's part first.
    """
    x, p = x.astype(np.float64), p.astype(np.float64)
    word, place = (norm.carry(part, at=x + p) for part in (x, p))
    n_heads = len(weights.W_Q)
    W_K, b_K = (grouped(value, n_heads)[head] for value in (weights.W_K, weights.b_K))
    queries = ((word + norm.bias) @ weights.W_Q[head] + weights.b_Q[head], place @ weights.W_Q[head])
    keys = ((word + norm.bias) @ W_K + b_K, place @ W_K)
    return np.stack([q @ k.T for q in queries for k in keys]) / np.sqrt(W_K.shape[-1])


def four_terms_of_slides(x: Array, p: Array, *, norm: Norm, weights: AttentionWeights, head: int) -> Array:
    """The scores with positions added to queries and keys, as on some slides: (q_i + p_i) · (k_j + p_j) / √d_head.

    Args:
        x: (len, d_model).
        p: (len, d_head).

    Returns:
        (4, len, len): query · key, query · position, position · key, position · position.
    """
    W_K, b_K = (grouped(value, len(weights.W_Q))[head] for value in (weights.W_K, weights.b_K))
    word = norm(x.astype(np.float64))
    q, k = word @ weights.W_Q[head] + weights.b_Q[head], word @ W_K + b_K
    return np.stack([one @ other.T for one in (q, p) for other in (k, p)]) / np.sqrt(W_K.shape[-1])


def everywhere(
    query: Array, key: Array, did: PositionEffects, *, norm: Norm, weights: AttentionWeights, head: int, length: int
) -> Array:
    """The first layer's unmasked scores of one word at every i with another at every j: (length, length).

    Args:
        query, key: (d_model,).
        did: of the scheme on a text of this length.
    """
    added = np.zeros((length, len(query))) if did.added is None else did.added.astype(np.float64)
    W_K, b_K = (grouped(value, len(weights.W_Q))[head] for value in (weights.W_K, weights.b_K))
    q = norm(query + added) @ weights.W_Q[head] + weights.b_Q[head]
    k = norm(key + added) @ W_K + b_K
    if did.angles is not None:
        q, k = turn_pairs(q, did.angles), turn_pairs(k, did.angles)
    scores = weights.scores(q, k) + did.related(q) / weights.divisor
    return scores if did.bias is None else scores + did.bias[head]


def varies_at_one_distance(values: Array) -> float:
    """The largest range of a square of scores along one of its diagonals: 0 if only the distance matters."""
    return max(float(np.ptp(np.diagonal(values, offset=n))) for n in range(1 - len(values), len(values)))


def change(before: Array, after: Array) -> tuple[Array, Array]:
    """Largest change of a score and of a weight in each layer: (layer,) each.

    Args:
        before, after: (layer, head, len, len), −∞ where masked.
    """
    allowed = np.isfinite(before)
    moved = np.abs(np.where(allowed, after, 0.0) - np.where(allowed, before, 0.0))
    weights = np.abs(softmax(after) - softmax(before))
    return moved.max(axis=(1, 2, 3)), weights.max(axis=(1, 2, 3))


def along_diagonals(values: Array) -> tuple[Array, Array, Array]:
    """Mean, smallest and largest value at each distance i − j: (len,) each.

    Args:
        values: (len, len), rows are queries.
    """
    along = [np.diagonal(values, offset=-distance) for distance in range(len(values))]
    return tuple(np.array([measure(line) for line in along]) for measure in (np.mean, np.min, np.max))  # type: ignore[return-value]


def explained_by_distance(values: Array) -> float:
    """The share R² of the variance over all pairs j ≤ i that their distance explains.

    1 − (variance within each distance) / (variance in all), in [0, 1]; NaN without variance.
    """
    lines = [np.diagonal(values, offset=-distance) for distance in range(len(values))]
    every = np.concatenate(lines)
    total = float(((every - every.mean()) ** 2).sum())
    within = float(sum(((line - line.mean()) ** 2).sum() for line in lines))
    return 1 - within / total if total > 0 else float("nan")


def smoothed(losses: Array, *, window: int = WINDOW) -> tuple[Array, Array]:
    """The middle of each window, and the mean in it. The last one may be shorter."""
    starts = range(0, len(losses), window)
    pieces = [np.asarray(losses[start : start + window]) for start in starts]
    middles = [start + (len(piece) - 1) / 2 for start, piece in zip(starts, pieces, strict=True)]
    return np.array(middles), np.array([piece.mean() for piece in pieces])


def rise(losses: Array, *, trained: int, factor: int = 8) -> float | None:
    """Rise of the loss from the trained length to `factor` times it, in nats per token.

    Both are means over `WINDOW` positions. None if the curve is too short.
    """
    if len(losses) < factor * trained:
        return None
    near, far = (np.asarray(losses[end - WINDOW : end]).mean() for end in (trained, factor * trained))
    return float(far - near)
