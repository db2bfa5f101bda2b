"""Which head links two words: what every head's look from one token at another weighs."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array, Trace, kind_of


def links(trace: Trace, kind: str, query: int, key: int) -> Array:
    """All heads of one kind of attention, looking from one query i at one key j, the layers bottom up.

    Args:
        kind: of attention, as `kind_of` names it: "decoder.cross_attn".
        query, key: positions of the token that looks and of the one that is looked at.

    Returns:
        (layer, head), a_ij in [0, 1]; NaN where the mask forbids the look.

    Raises:
        NotCaptured: the trace lacks a pattern's `mask`.
    """
    return np.stack([_looks(trace, layer, query, key) for layer in trace.layers if kind_of(layer) == kind])


def _looks(trace: Trace, layer: str, query: int, key: int) -> Array:
    """Weight of every head of a layer: (head,)."""
    pattern = trace[f"{layer}.pattern"]
    allowed = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape)[:, query, key]
    return np.where(allowed, pattern[:, query, key], np.nan)
