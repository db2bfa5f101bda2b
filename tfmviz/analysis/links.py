"""Which head links two words: what every head's look from one token at another weighs, and how much it writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.attention_layer import grouped, stream_before
from tfmviz.record.trace import Array, Trace, kind_of
from tfmviz.record.weights import ModelWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Links:
    """All heads of one kind of attention, looking from one query i at one key j.

    Attributes:
        layers: paths of the layers, bottom up.
        weights: (layer, head), a_ij in [0, 1]; NaN where the mask forbids the look.
        effects: (layer, head), ‖a_ij v_j W_O[h]‖ / ‖x_i‖: how long the vector is that this look adds to the query's
            stream (Kobayashi et al. 2020, section 2), compared with the stream it is added to. Streams grow from layer
            to layer, so lengths alone would favour the last layers. Where a norm follows W_O, the look goes through it
            with σ held at the value of all heads together. NaN as above.
    """

    layers: tuple[str, ...]
    weights: Array
    effects: Array


def links(trace: Trace, weights: ModelWeights, kind: str, query: int, key: int) -> Links:
    """Measures all heads on one pair of tokens.

    Args:
        kind: of attention, as `kind_of` names it: "decoder.cross_attn".
        query, key: positions of the token that looks and of the one that is looked at.

    Raises:
        NotCaptured: the trace lacks a pattern's `mask`, `v` or the stream before it.
    """
    layers = tuple(layer for layer in trace.layers if kind_of(layer) == kind)
    looks = [_looks(trace, weights, layer, query, key) for layer in layers]
    return Links(
        layers=layers, weights=np.stack([a for a, _ in looks]), effects=np.stack([effect for _, effect in looks])
    )


def _looks(trace: Trace, weights: ModelWeights, layer: str, query: int, key: int) -> tuple[Array, Array]:
    """Weight and effect of every head of a layer: (head,) each."""
    pattern = trace[f"{layer}.pattern"]
    allowed = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape)[:, query, key]
    weight = np.where(allowed, pattern[:, query, key], np.nan)
    attention = weights.attention(layer)
    value = grouped(trace[f"{layer}.v"], len(pattern))[:, None, key]  # (head, 1, d_head)
    added = weight[:, None] * (value @ attention.W_O)[:, 0]  # (head, d_model)
    if attention.out_norm is not None:
        whole = (trace[f"{layer}.z"][:, None, query] @ attention.W_O).sum(axis=0) + attention.b_O  # (1, d_model)
        added = attention.out_norm.carry(added, at=whole)
    length = np.linalg.norm(stream_before(trace, layer)[query])
    return weight, np.linalg.norm(added, axis=-1) / max(float(length), 1e-12)
