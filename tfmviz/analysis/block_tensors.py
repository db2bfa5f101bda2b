"""One block as a list of tensors, named as in lectures: T¹ = SelfAttention(X), T² = X + T¹, … H = LayerNorm(T⁵)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.constants import RAISED_DIGITS
from tfmviz.record.trace import Array, Trace

Kind = Literal["input", "norm", "attention", "cross", "mlp", "add"]

LAYERS: dict[str, tuple[Kind, str, str]] = {
    "self_attn": ("attention", "SelfAttention({})", "resid_mid"),
    "cross_attn": ("cross", "CrossAttention({}, M)", "resid_cross"),
    "mlp": ("mlp", "FFN({})", "resid_post"),
}
"""By layer of a block: kind, formula and the site of the stream after it."""

_RAISED = str.maketrans("0123456789", RAISED_DIGITS)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tensor:
    """One step of a block.

    Attributes:
        kind: "add" is the residual connection.
        name: X, T¹, T² … or H, with which the block ends.
        formula: in terms of earlier tensors, such as "X + T¹"; "" for X. M is the encoder's output.
        sites: their sum is the value.
        value: (len, d_model).
        layer: path of its layer, such as "decoder.0.mlp"; "" for X.
        skips_from: index of the tensor that "add" adds.
    """

    kind: Kind
    name: str
    formula: str = ""
    sites: tuple[str, ...]
    value: Array
    layer: str = ""
    skips_from: int | None = None

    @property
    def equation(self) -> str:
        """T² = X + T¹."""
        return f"{self.name} = {self.formula}" if self.formula else self.name


def block_tensors(trace: Trace, block: str, *, norm: str = "LayerNorm") -> tuple[Tensor, ...]:
    """All tensors of a block such as "decoder.0", in the order of computation.

    In a post-norm block without cross-attention these are T¹ … T⁵ and H (Vaswani et al. 2017, section 3.1).
    Cross-attention adds three.

    Raises:
        NotCaptured: the trace lacks a site of the block.
    """
    begin = f"{block}.resid_pre"
    found = [Tensor(kind="input", name="X", sites=(begin,), value=trace[begin])]

    def add(kind: Kind, formula: str, sites: tuple[str, ...], layer: str, skips_from: int | None = None) -> None:
        name = f"T{str(len(found)).translate(_RAISED)}"
        value = trace[sites[0]] if len(sites) == 1 else trace[sites[0]] + trace[sites[1]]
        found.append(
            Tensor(kind=kind, name=name, formula=formula, sites=sites, value=value, layer=layer, skips_from=skips_from)
        )

    for part, (kind, formula, after) in LAYERS.items():
        layer = f"{block}.{part}"
        if f"{layer}.out" not in trace:
            continue
        stream = len(found) - 1
        if is_pre_norm(trace):
            read = found[0] if f"{layer}.reads" in trace else found[-1]  # in a parallel block both layers read X
            if not np.array_equal(trace[f"{layer}.norm"], read.value):  # without a norm it is the stream itself
                add("norm", f"{norm}({read.name})", (f"{layer}.norm",), layer)
        add(kind, formula.format(found[-1].name), (f"{layer}.out",), layer)
        plus = f"{found[stream].name} + {found[-1].name}"
        if is_pre_norm(trace):
            add("add", plus, (f"{block}.{after}",), layer, stream)
        else:
            add("add", plus, (*found[stream].sites, f"{layer}.out"), layer, stream)
            add("norm", f"{norm}({found[-1].name})", (f"{layer}.norm",), layer)
    return (*found[:-1], replace(found[-1], name="H"))
