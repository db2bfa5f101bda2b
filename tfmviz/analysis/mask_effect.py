"""Masks in their two forms, and their effects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.record.trace import Array, Trace

OUT_OF_REACH = -1

LARGE = np.float32(-1e9)
"""Added to a forbidden score instead of −∞ in older code."""


def next_token_losses(logits: Array, ids: Sequence[int]) -> Array:
    """−log p(next token), in nats: (len − 1,), from logits (len, vocab)."""
    scores = logits[:-1].astype(np.float64)
    largest = scores.max(axis=-1, keepdims=True)
    log_sum = largest[:, 0] + np.log(np.exp(scores - largest).sum(axis=-1))
    return log_sum - scores[np.arange(len(scores)), np.asarray(ids[1:], dtype=int)]


def stream_change(before: Trace, after: Trace, stack: str) -> Array:
    """Relative change of the residual stream after each layer, ‖x' − x‖ / ‖x‖: (n_layers, len)."""
    rows: list[Array] = []
    while (site := f"{stack}.{len(rows)}.resid_post") in before:
        moved = np.linalg.norm(after[site] - before[site], axis=-1)
        rows.append(moved / np.maximum(np.linalg.norm(before[site], axis=-1), 1e-12))
    return np.stack(rows)


def filled(mask: Array) -> tuple[Array, list[int]]:
    """A mask without empty rows, and the rows filled.

    A query without a key attends to itself, in cross-attention to the first key.
    """
    empty = np.flatnonzero(~mask.any(axis=-1)).tolist()
    usable = mask.copy()
    for row in empty:
        usable[row, row if mask.shape[0] == mask.shape[1] else 0] = True
    return usable, empty


def layers_to_reach(masks: Sequence[Array]) -> Array:
    """Layers after which token j can influence position i: (len, len).

    Row i of the boolean product (M_n | I) … (M_1 | I) marks the tokens that reach position i after n layers; I is the
    residual connection.

    Args:
        masks: (len, len) for each layer, in order.

    Returns:
        0 on the diagonal, the smallest n elsewhere, `OUT_OF_REACH` if all layers are not enough.
    """
    here = np.eye(len(masks[0]), dtype=bool)
    reached, steps = here, np.where(here, 0, OUT_OF_REACH)
    for n, mask in enumerate(masks, start=1):
        reached = (mask | here).astype(np.float32) @ reached.astype(np.float32) > 0
        steps[reached & (steps == OUT_OF_REACH)] = n
    return steps


def layers_needed(mask: Array) -> tuple[int, bool]:
    """Layers until no further pair comes within reach, and True if all pairs then are."""
    steps = layers_to_reach([mask] * max(1, len(mask)))
    return int(steps.max()), bool((steps != OUT_OF_REACH).all())


def seen_answers(steps: Array) -> Array:
    """Positions that can see the token they must predict: i with token i + 1 within reach."""
    return np.flatnonzero(np.diagonal(steps, offset=1) != OUT_OF_REACH)


def additive(mask: Array) -> Array:
    """The mask as an addend of the scores: 0 where True, −∞ where False."""
    return np.where(mask, 0.0, -np.inf)


def softmax_under(scores: Array, mask: Array, blocked: float) -> Array:
    """Softmax of unmasked scores (…, key) + (0 or `blocked`), in float32 as in models.

    With −∞ an empty row is 0/0 = NaN. With −1e9 rounding absorbs scores below 32, and the row is uniform.
    """
    shown = (scores.astype(np.float32) + np.where(mask, np.float32(0), np.float32(blocked))).astype(np.float32)
    with np.errstate(invalid="ignore"):
        powers = np.exp(shown - shown.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)
