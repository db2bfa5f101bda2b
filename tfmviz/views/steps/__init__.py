"""One head of one layer, stage by stage, in the browser: every matrix on the way, every number explained.

The browser gets the record and the layer's matrices, and computes in double precision the products that the record
does not hold, such as the scores before the mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfmviz.analysis.attention_layer import inputs, is_pre_norm, stream_before
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import AttentionWeights, PositionEffects, feature
from tfmviz.views.shared import pack
from tfmviz.words.labels import of_queries, visible


def payload(
    trace: Trace,
    layer: str,
    head: int,
    weights: AttentionWeights,
    positions: PositionEffects,
    *,
    title: str,
    with_weights: bool = True,
) -> bytes:
    """The data of the view; see `shared.pack`.

    The arrays carry the names of docs/architecture.md, those of one head without the head's axis. `W_O` is (n_heads ×
    d_head, d_model), `concat` the z of all heads side by side: (q_len, n_heads × d_head).

    Args:
        positions: what the scheme does to a text of this length; nothing in cross-attention.
        with_weights: whether the layer's matrices travel too; a view that shows the same head has them.

    Raises:
        NotCaptured: the trace lacks what the layer computed.
        ValueError: a number is not finite, or queries are turned and `positions` has no angles.
    """
    group = _group(trace, layer, head)
    x_q, x_kv = inputs(trace, layer)
    memory = x_kv if x_kv is not x_q else None
    arrays = (
        {"x": x_q}
        | _of_head(trace, layer, head, group)
        | (_matrices(weights, head, group) if with_weights else {})
        | _optional(trace, layer, weights, (head, group), positions, memory)
    )
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{layer}, {name}: there are numbers that are not finite.")
    return pack({"title": title, "head": head} | _facts(trace, layer, head, weights), arrays)


def _facts(trace: Trace, layer: str, head: int, weights: AttentionWeights) -> dict[str, Any]:
    return {
        "layer": layer,
        "queries": of_queries(trace, layer),
        "tokens": trace.axes(layer)[0].tokens,
        "keys": [visible(token) for token in trace.axes(layer)[1].tokens],
        "heads": len(trace[f"{layer}.q"]),
        "preNorm": is_pre_norm(trace),
        "divisor": weights.divisor,
        "divided": weights.divided_by,
        "cap": weights.cap,
        "linear": weights.is_linear,
        "sink": None if weights.sink is None else float(weights.sink[head]),
        "normed": weights.q_norm is not None,
        "outNormed": weights.out_norm is not None,
    }


def _group(trace: Trace, layer: str, head: int) -> int:
    return head // (len(trace[f"{layer}.q"]) // len(trace[f"{layer}.k"]))


def _of_head(trace: Trace, layer: str, head: int, group: int) -> dict[str, Array]:
    z = trace[f"{layer}.z"]
    q_len, k_len = trace[f"{layer}.pattern"].shape[1:]
    return {
        "q": trace[f"{layer}.q"][head],
        "k": trace[f"{layer}.k"][group],
        "v": trace[f"{layer}.v"][group],
        "mask": np.broadcast_to(trace[f"{layer}.mask"], (q_len, k_len)),
        "pattern": trace[f"{layer}.pattern"][head],
        "z": z[head],
        "concat": z.transpose(1, 0, 2).reshape(q_len, -1),
        "out": trace[f"{layer}.out"],
        "before": stream_before(trace, layer),
    }


def _matrices(weights: AttentionWeights, head: int, group: int) -> dict[str, Array]:
    return {
        "W_Q": weights.W_Q[head],
        "b_Q": weights.b_Q[head],
        "W_K": weights.W_K[group],
        "b_K": weights.b_K[group],
        "W_V": weights.W_V[group],
        "b_V": weights.b_V[group],
        "W_O": weights.W_O.reshape(-1, weights.W_O.shape[-1]),
        "b_O": weights.b_O,
    }


def _optional(
    trace: Trace,
    layer: str,
    weights: AttentionWeights,
    heads: tuple[int, int],
    positions: PositionEffects,
    x_kv: Array | None,
) -> dict[str, Array]:
    head, group = heads
    found: dict[str, Array] = {} if x_kv is None else {"memory": x_kv}
    if f"{layer}.rot_q" in trace:
        if positions.angles is None:
            raise ValueError(f"{layer} turns queries and keys, but by which angles is not known.")
        found |= {"rot_q": trace[f"{layer}.rot_q"][head], "rot_k": trace[f"{layer}.rot_k"][group]}
        found["angles"] = positions.angles
    if weights.is_linear:
        found |= {"rot_q": feature(trace[f"{layer}.q"][head]), "rot_k": feature(trace[f"{layer}.k"][group])}
    if positions.bias is not None:
        found["bias"] = positions.bias[head]
    return found
