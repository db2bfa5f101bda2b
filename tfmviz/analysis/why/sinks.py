"""The first token as an attention sink (Xiao et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.attention_layer import grouped
from tfmviz.record.edits import Patch
from tfmviz.record.trace import Array, Trace, kind_of
from tfmviz.record.weights import ModelWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sinks:
    """The first token's part in one kind of attention.

    Attributes:
        shares: (layer, head), mean attention to the first key of all queries that see another, too; NaN without such a
            query.
        unused: (layer, head), the mean share that a learned sink takes, or 0.
        lengths: (layer, head), ‖v_0 W_O[h]‖ over the mean of the other keys' ‖v_j W_O[h]‖.
    """

    layers: tuple[str, ...]
    shares: Array
    unused: Array
    lengths: Array


def sinks(trace: Trace, weights: ModelWeights, kind: str) -> Sinks:
    """Measures the heads of a kind of attention, such as "decoder.self_attn"."""
    layers = tuple(layer for layer in trace.layers if kind_of(layer) == kind)
    return Sinks(
        layers=layers,
        shares=np.stack([_shares(trace, layer) for layer in layers]),
        unused=np.stack(
            [1 - trace[f"{layer}.pattern"].sum(axis=-1, dtype=np.float64).mean(axis=1) for layer in layers]
        ),
        lengths=np.stack([_lengths(trace, layer, weights) for layer in layers]),
    )


def _shares(trace: Trace, layer: str) -> Array:
    pattern = trace[f"{layer}.pattern"].astype(np.float64)
    mask = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape[1:])
    choose = mask[:, 0] & (mask.sum(axis=1) > 1)
    return pattern[:, choose, 0].mean(axis=1) if choose.any() else np.full(len(pattern), np.nan)


def _lengths(trace: Trace, layer: str, weights: ModelWeights) -> Array:
    W_O = weights.attention(layer).W_O_carried
    v = grouped(trace[f"{layer}.v"], len(W_O)).astype(np.float64)
    lengths = np.linalg.norm(v @ W_O, axis=-1)  # (head, k_len)
    if lengths.shape[1] == 1:
        return np.full(len(lengths), np.nan)
    others = lengths[:, 1:].mean(axis=1)
    return np.divide(lengths[:, 0], others, where=others > 0, out=np.full(len(lengths), np.nan))


def without_value(weights: ModelWeights, layers: tuple[str, ...], head: int | None = None) -> tuple[Patch, ...]:
    """The edits that set the first token's value to zero, in one head or in all.

    Heads that share values lose it together.
    """
    edits = []
    for layer in layers:
        attention = weights.attention(layer)
        kv_head = None if head is None else head * len(attention.W_V) // len(attention.W_Q)
        zero = (0.0,) * attention.W_V.shape[-1]
        edits.append(Patch(site=f"{layer}.v", vector=zero, head=kv_head, position=0))
    return tuple(edits)
