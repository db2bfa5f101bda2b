"""One attention layer taken apart: what it reads, what it multiplies with, what each head and each look contributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.trace import Array, Trace


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Projections:
    """The matrices of one attention layer, head by head, in the lectures' row convention q = x W_Q + b_Q.

    Attributes:
        W_Q: (head, d_model, d_head), with b_Q (head, d_head).
        W_K, W_V: (kv head, d_model, d_head), with b_K and b_V (kv head, d_head).
        W_O: (head, d_head, d_model), with b_O (d_model,).
        angles: (len, d_head / 2), by how much RoPE turns each pair of coordinates at each position; None without RoPE.
        bias: (head, q_len, k_len), what ALiBi and T5 add to the scores; None elsewhere.
    """

    W_Q: Array
    b_Q: Array  # noqa: N815
    W_K: Array
    b_K: Array  # noqa: N815
    W_V: Array
    b_V: Array  # noqa: N815
    W_O: Array
    b_O: Array  # noqa: N815
    angles: Array | None = None
    bias: Array | None = None


def inputs(trace: Trace, layer: str) -> tuple[Array, Array]:
    """What the layer reads: (q_len, d_model) for the queries, (k_len, d_model) for keys and values.

    In pre-norm that is the normed stream, in post-norm the stream itself. Cross-attention takes keys and values from
    the encoder's output.
    """
    stack, index, part = layer.split(".")
    stream = f"{stack}.{index}.{'resid_mid' if part == 'cross_attn' else 'resid_pre'}"
    x = trace[f"{layer}.norm"] if is_pre_norm(trace) else trace[stream]
    if part == "self_attn":
        return x, x
    last = max(int(name.split(".")[1]) for name in trace.layers if name.startswith("encoder."))
    return x, trace["encoder.norm"] if "encoder.norm" in trace else trace[f"encoder.{last}.resid_post"]


def is_pre_norm(trace: Trace) -> bool:
    """Only pre-norm stacks end with a norm of their own."""
    return "decoder.norm" in trace or "encoder.norm" in trace


def stream_before(trace: Trace, layer: str) -> Array:
    """(q_len, d_model), the residual stream that the layer's output is added to."""
    block, part = layer.rsplit(".", 1)
    return trace[f"{block}.{'resid_mid' if part == 'cross_attn' else 'resid_pre'}"]


def grouped(values: Array, n_heads: int) -> Array:
    """Hands each key/value head to the query heads that share it: (kv head, …) to (head, …)."""
    return values.repeat(n_heads // len(values), axis=0)


def writes(z: Array, W_O: Array) -> Array:
    """What each head adds to the stream, z_h W_O[h]: (head, q_len, d_model). With b_O they sum to the layer's output.

    Args:
        z: (head, q_len, d_head).
        W_O: (head, d_head, d_model).
    """
    return z @ W_O


def effects(pattern: Array, v: Array, W_O: Array) -> Array:
    """Length of what each look carries into the stream, ‖a_ij v_j W_O[h]‖ (Kobayashi et al. 2020, section 2).

    Args:
        pattern: (head, q_len, k_len), a.
        v: (head, k_len, d_head).
        W_O: (head, d_head, d_model).

    Returns:
        (head, q_len, k_len), at least 0.
    """
    return pattern * np.linalg.norm(v @ W_O, axis=-1)[:, None]


def hard_lookup(row: Array, values: Array) -> tuple[int, float]:
    """What an ordinary table would return: the value of the best key alone.

    Args:
        row: (k_len,), one query's attention.
        values: (k_len, d_head).

    Returns:
        The best key, and the cosine between its value and the weighted sum; NaN if one of them is zero.
    """
    best = int(row.argmax())
    soft, hard = row @ values, values[best]
    lengths = float(np.linalg.norm(soft) * np.linalg.norm(hard))
    return best, float(soft @ hard) / lengths if lengths else float("nan")


def ranking(scores: Array) -> list[tuple[int, int, float]]:
    """Layer, head and score of all heads, the highest first; heads without a score are left out.

    Args:
        scores: (layer, head).
    """
    found = [(layer, head, float(score)) for (layer, head), score in np.ndenumerate(scores) if not np.isnan(score)]
    return sorted(found, key=lambda entry: -entry[2])
