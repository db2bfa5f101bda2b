"""Attention of every head from one token to another."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array, Trace, kind_of


def links(trace: Trace, kind: str, query: int, key: int) -> Array:
    """Weights of all heads of one kind of attention for one query i and key j, the layers bottom up.

    Args:
        kind: of attention, as `kind_of` names it: "decoder.cross_attn".

    Returns:
        (layer, head), a_ij in [0, 1]; NaN where masked.

    Raises:
        NotCaptured: the trace lacks a pattern's `mask`.
    """
    return np.stack([_looks(trace, layer, query, key) for layer in trace.layers if kind_of(layer) == kind])


def _looks(trace: Trace, layer: str, query: int, key: int) -> Array:
    """Weight of every head of a layer: (head,)."""
    pattern = trace[f"{layer}.pattern"]
    allowed = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape)[:, query, key]
    return np.where(allowed, pattern[:, query, key], np.nan)
