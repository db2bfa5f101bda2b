"""A head's effect on words, by key (Elhage et al. 2021, "OV circuit")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis import contributions
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import AttentionWeights, StackWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pushes:
    """One head's direct contributions to the logits of some words, with later σ held.

    Attributes:
        words: indices of those raised most, then of those lowered most.
        by_key: (key, word), a_ij v_j W_O[h] · g_word. Columns sum to scores of `attribution`.
    """

    words: tuple[int, ...]
    by_key: Array


def pushes(
    trace: Trace, layer: str, head: int, token: int, *, weights: StackWeights, raised: int, lowered: int
) -> Pushes:
    """Splits a head's output at one token by key.

    Args:
        layer: of the last stack.
        weights: with a linear readout.
        raised, lowered: numbers of words.
    """
    stack = layer.split(".")[0]
    river = contributions.river(trace, stack, token, weights)
    index = next(n for n, part in enumerate(river.parts) if (part.site, part.head) == (layer, head))
    written = by_key(trace, layer, head, token, weights.attention[layer])
    arrived = contributions.carried(river, weights, index, written)  # (key, d_model)
    moved = weights.readout.W_U @ arrived.sum(axis=0)
    order = np.argsort(-moved, kind="stable").tolist()
    words = (*order[:raised], *order[len(order) - lowered :])
    return Pushes(words=words, by_key=arrived @ weights.readout.W_U[list(words)].astype(np.float64).T)


def by_key(trace: Trace, layer: str, head: int, token: int, attention: AttentionWeights) -> Array:
    """A head's output from each key, a_ij v_j W_O[h]: (k_len, d_model)."""
    pattern, values = trace[f"{layer}.pattern"], trace[f"{layer}.v"]
    v = values[head * len(values) // len(pattern)].astype(np.float64)  # (k_len, d_head)
    written: Array = pattern[head, token, :, None] * (v @ attention.W_O[head])
    if attention.out_norm is None:
        return written
    summed = np.einsum("hd,hdm->m", trace[f"{layer}.z"][:, token].astype(np.float64), attention.W_O) + attention.b_O
    return attention.out_norm.carry(written, at=summed)
