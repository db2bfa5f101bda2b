"""One attention layer taken apart."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array, Trace


def inputs(trace: Trace, layer: str) -> tuple[Array, Array]:
    """The layer's input: (q_len, d_model) for the queries, (k_len, d_model) for keys and values.

    In a pre-norm model that is the normed stream, in a post-norm model the stream itself. The keys and values of
    cross-attention come from the encoder.
    """
    x, x_kv = (trace[site] for site in input_sites(trace, layer))
    return x, x if layer.endswith(".self_attn") else x_kv


def input_sites(trace: Trace, layer: str) -> tuple[str, str]:
    x = f"{layer}.norm" if is_pre_norm(trace) else site_before(trace, layer)
    if layer.endswith(".self_attn"):
        return x, x
    last = max(int(name.split(".")[1]) for name in trace.layers if name.startswith("encoder."))
    return x, "encoder.norm" if "encoder.norm" in trace else f"encoder.{last}.resid_post"


def is_pre_norm(trace: Trace) -> bool:
    """True for pre-norm models: only their stacks end with a norm."""
    return "decoder.norm" in trace or "encoder.norm" in trace


def stream_before(trace: Trace, site: str) -> Array:
    """(len, d_model), the residual stream to which a layer such as "decoder.0.mlp" adds its output."""
    return trace[site_before(trace, site)]


def site_before(trace: Trace, site: str) -> str:
    block, part = site.rsplit(".", 1)
    match part:
        case "self_attn":
            return f"{block}.resid_pre"
        case "mlp" if f"{block}.resid_cross" in trace:
            return f"{block}.resid_cross"
    return f"{block}.resid_mid"


def read_by(trace: Trace, site: str) -> Array:
    """(len, d_model), the stream that a layer reads: `stream_before` or, in a parallel block, an earlier one."""
    return trace[f"{site}.reads"] if f"{site}.reads" in trace else stream_before(trace, site)


def of_head(trace: Trace, layer: str, head: int, name: str) -> Array:
    """A head's "q", "k", "v", "rot_q", "rot_k" or "z", (len, d_head), or "scores", (q_len, k_len)."""
    return grouped(trace[f"{layer}.{name}"], len(trace[f"{layer}.q"]))[head]


def turned(trace: Trace, layer: str, name: str) -> str:
    """The name of "q" or "k" as used in the scores: "rot_q" if the position scheme rotates."""
    return f"rot_{name}" if f"{layer}.rot_{name}" in trace else name


def grouped(values: Array, n_heads: int) -> Array:
    """Repeats each key/value head for the query heads that share it: (kv head, …) to (head, …)."""
    return values.repeat(n_heads // len(values), axis=0)


def effects(pattern: Array, v: Array, W_O: Array) -> Array:
    """Norm of what query i takes from key j, ‖a_ij v_j W_O[h]‖ (Kobayashi et al. 2020, section 2): (head, q_len,
    k_len).

    Args:
        v: (head, k_len, d_head).
        W_O: (head, d_head, d_model).
    """
    return pattern * np.linalg.norm(v @ W_O, axis=-1)[:, None]


def hard_lookup(row: Array, values: Array) -> tuple[int, float]:
    """The best key, and the cosine between its value and the weighted sum; NaN if one of them is zero.

    Args:
        row: (k_len,).
        values: (k_len, d_head).
    """
    best = int(row.argmax())
    soft, hard = row @ values, values[best]
    lengths = float(np.linalg.norm(soft) * np.linalg.norm(hard))
    return best, float(soft @ hard) / lengths if lengths else float("nan")


def ranking(scores: Array) -> list[tuple[int, int, float]]:
    """Layer, head and score of all heads in `scores`, (layer, head), the highest first; NaN is left out."""
    found = [(layer, head, float(score)) for (layer, head), score in np.ndenumerate(scores) if not np.isnan(score)]
    return sorted(found, key=lambda entry: -entry[2])
