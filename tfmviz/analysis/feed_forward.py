"""One feed-forward layer taken apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from tfmviz.analysis.attention_layer import is_pre_norm, stream_before
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import FeedForwardWeights

Part = Literal["x", "gate", "pre", "post", "out", "before", "after"]
"""The stream around the layer is "before" and "after"; "pre" and "post" surround the activation."""

PARTS: tuple[Part, ...] = get_args(Part)


def relu(x: Array) -> Array:
    """max(0, x)."""
    return np.maximum(x, 0)


def relu_squared(x: Array) -> Array:
    """max(0, x)² (So et al. 2021)."""
    return np.maximum(x, 0) ** 2


def gelu(x: Array) -> Array:
    """x Φ(x), with Φ the distribution function of the standard normal (Hendrycks & Gimpel 2016)."""
    x = np.asarray(x, dtype=np.float64)
    erf = np.fromiter(map(math.erf, (x / math.sqrt(2)).ravel().tolist()), dtype=np.float64, count=x.size)
    return x * (1 + erf.reshape(x.shape)) / 2


def gelu_tanh(x: Array) -> Array:
    """GELU's approximation x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, as in GPT-2."""
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def silu(x: Array) -> Array:
    """x σ(x) with σ(x) = 1 / (1 + e⁻ˣ), also called Swish (Ramachandran et al. 2017)."""
    return x * (1 + np.tanh(x / 2)) / 2  # σ(x) = (1 + tanh(x / 2)) / 2, which never overflows


FUNCTIONS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    **dict.fromkeys(("relu", "reglu"), ("ReLU", relu)),
    "relu2": ("ReLU²", relu_squared),
    **dict.fromkeys(("gelu", "geglu"), ("GELU", gelu)),
    **dict.fromkeys(("gelu_tanh", "geglu_tanh"), ("GELU", gelu_tanh)),
    **dict.fromkeys(("silu", "swiglu"), ("SiLU", silu)),
}
"""Each kind's activation, which in a gated kind acts on the gate."""


def name_of(weights: FeedForwardWeights) -> str:
    return FUNCTIONS[weights.activation][0]


def function_of(weights: FeedForwardWeights) -> Callable[[Array], Array]:
    return FUNCTIONS[weights.activation][1]


def parts(trace: Trace, site: str) -> dict[Part, Array]:
    """All vectors of a layer such as "decoder.0.mlp" on a text: (len, d_model) or (len, d_ff).

    "after" is the stream with the output added, before a later norm.
    """
    before = stream_before(trace, site)
    found: dict[Part, Array] = {"x": trace[f"{site}.norm"] if is_pre_norm(trace) else before}
    if f"{site}.gate" in trace:
        found["gate"] = trace[f"{site}.gate"]
    found |= {"pre": trace[f"{site}.pre"], "post": trace[f"{site}.post"], "out": trace[f"{site}.out"]}
    return found | {"before": before, "after": before + found["out"]}


def run(weights: FeedForwardWeights, x: Array) -> Array:
    """The layer's output for vectors x: (…, d_model), in the precision of x."""
    inner = x @ weights.W_in + weights.b_in
    f = function_of(weights)
    post = f(inner) if weights.W_gate is None else f(x @ weights.W_gate + weights.b_gate) * inner
    out = post.astype(x.dtype, copy=False) @ weights.W_out + weights.b_out
    return out if weights.out_norm is None else weights.out_norm(out)


def driver(trace: Trace, site: str) -> Array:
    """(len, d_ff), the argument of the activation: the gate, if any, else the sum before f."""
    return trace[f"{site}.gate"] if f"{site}.gate" in trace else trace[f"{site}.pre"]


def share_on(trace: Trace, site: str) -> Array:
    """(len,), share of the neurons whose `driver` is above 0."""
    return (driver(trace, site) > 0).mean(axis=-1)


def strongest(values: Array, n: int) -> Array:
    """Indices of the `n` largest absolute values, decreasing."""
    return np.argsort(-np.abs(values), kind="stable")[:n]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sum:
    """The sum behind one value of a layer: Σ a_i b_i + bias.

    Attributes:
        indices, a, b: of the terms largest in absolute value, decreasing.
        n_others, others: number and sum of the other terms.
        total: of all terms, in float64.
    """

    indices: Array
    a: Array
    b: Array
    n_others: int
    others: float
    total: float
    bias: float


def sum_of(weights: FeedForwardWeights, found: dict[Part, Array], part: Part, index: int, *, n: int = 12) -> Sum | None:
    """The sum behind component `index` of one token's gate, pre or out; None for other vectors.

    Args:
        n: number of terms kept.
    """
    match part:
        case "pre":
            a, b, bias = found["x"], weights.W_in[:, index], weights.b_in[index]
        case "gate" if weights.W_gate is not None and weights.b_gate is not None:
            a, b, bias = found["x"], weights.W_gate[:, index], weights.b_gate[index]
        case "out":
            a, b, bias = found["post"], weights.W_out[:, index], weights.b_out[index]
        case _:
            return None
    a, b = a.astype(np.float64), b.astype(np.float64)
    terms = a * b
    kept = strongest(terms, n)
    total = float(terms.sum())
    return Sum(
        indices=kept,
        a=a[kept],
        b=b[kept],
        n_others=len(terms) - len(kept),
        others=total - float(terms[kept].sum()),
        total=total,
        bias=float(bias),
    )


def directions(weights: FeedForwardWeights, neurons: Array, W_U: Array) -> Array:
    """Each logit's change for an activation of 1, (n, vocab): rows of W_out times W_Uᵀ, without the last norm (Geva et
    al. 2022).
    """
    return weights.W_out[neurons] @ W_U.T
