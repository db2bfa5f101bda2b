"""The writers of the vector that a layer reads at one token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from tfmviz.analysis.attention_layer import is_pre_norm, stream_before
from tfmviz.analysis.contributions import Part, norm_at, parts_of
from tfmviz.analysis.residual import depth
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import ModelWeights, Norm, StackWeights

BIASES = "biases"
"""The writer of all that is independent of the text: each b_O and β, later b_Q or b_K too."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reading:
    """A layer's input at one token, n = Σ_w n_w.

    With its measured σ held, every norm on the way is linear, so shares pass through it separately.

    Attributes:
        names: of the writers, in order; `BIASES` come last.
        shares: (writer, d_model).
        parts: everything that was added to the stream, norms too.
        owner: for each part its writer's index in `names`.
        norm: before the layer; None in a post-norm model.
        stream: (d_model,), the input of that norm.
        norms: those on the way, by their sites.
    """

    names: tuple[str, ...]
    shares: Array
    parts: tuple[Part, ...]
    owner: tuple[int, ...]
    norm: Norm | None
    stream: Array
    norms: Mapping[str, Norm]

    def without(self, writer: int) -> Array:
        """The layer's input without this writer, (d_model,).

        The norms divide by their new σ.
        """
        has_biases = self.names[writer] != BIASES
        x = np.zeros_like(self.stream)
        for part, owner in zip(self.parts, self.owner, strict=True):
            if part.kind == "norm":
                x = _normed(self.norms[part.site], x, biased=has_biases)
            elif owner != writer:
                x = x + part.write
        return x if self.norm is None else _normed(self.norm, x, biased=has_biases)

    def scales(self, writer: int) -> tuple[float, float] | None:
        """σ of the norm before the layer, with and without this writer; None in a post-norm model."""
        if self.norm is None:
            return None
        written = [part.write for part, owner in zip(self.parts, self.owner, strict=True) if owner == writer]
        less = self.stream - np.sum(written, axis=0)
        return float(self.norm.scale(self.stream)[0]), float(self.norm.scale(less)[0])


def reading(trace: Trace, layer: str, side: str, token: int, weights: ModelWeights) -> Reading:
    """An attention layer's input at a token, in float64.

    Args:
        side: "query" or "key"; in cross-attention keys are the encoder's tokens.
    """
    stack, _, part = layer.split(".")
    if side == "key" and part == "cross_attn":
        matrices = weights.stacks["encoder"]
        end = trace[f"encoder.{depth(trace, 'encoder') - 1}.resid_post"][token]
        return _reading(parts_of(trace, "encoder", token, matrices), matrices, matrices.readout.norm, end)
    matrices, site = weights.stacks[stack], layer
    before = takewhile(lambda part: part.site != site, parts_of(trace, stack, token, matrices))
    norm = matrices.norms[site] if is_pre_norm(trace) else None
    return _reading(before, matrices, norm, stream_before(trace, site)[token])


def _reading(parts: Iterable[Part], weights: StackWeights, norm: Norm | None, stream: Array) -> Reading:
    parts = tuple(parts)
    stream = stream.astype(np.float64)
    names = (*dict.fromkeys(_name(part) for part in parts if part.kind not in ("bias", "norm")), BIASES)
    owner = tuple(names.index(_name(part)) for part in parts)
    norms = {part.site: norm_at(weights, part.site) for part in parts if part.kind == "norm"}
    shares = np.zeros((len(names), len(stream)))
    for part, writer in zip(parts, owner, strict=True):
        if part.kind == "norm":
            shares = _carried(norms[part.site], shares, at=part.meets)
        else:
            shares[writer] += part.write
    if norm is not None:
        shares = _carried(norm, shares, at=stream)
    return Reading(names=names, shares=shares, parts=parts, owner=owner, norm=norm, stream=stream, norms=norms)


def _name(part: Part) -> str:
    layer = part.site.split(".")[1] if "." in part.site else ""
    match part.kind:
        case "head":
            return f"{'cross ' if part.site.endswith('cross_attn') else ''}head {layer}.{part.head}"
        case "MLP":
            return f"MLP {layer}"
        case "bias" | "norm":
            return BIASES
    return part.kind


def _carried(norm: Norm, shares: Array, *, at: Array) -> Array:
    """All shares through a norm with its σ held; its β goes to the biases, the last of them."""
    shares = norm.carry(shares, at=at)
    shares[-1] += norm.bias
    return shares


def _normed(norm: Norm, x: Array, *, biased: bool) -> Array:
    return norm(x) if biased else norm(x) - norm.bias


def largest(values: Array, n: int) -> list[int]:
    """Indices of the n largest absolute values, decreasing."""
    return [int(index) for index in np.argsort(-np.abs(values), kind="stable")[:n]]


def folded(matrix: Array, rows: Sequence[int], columns: Sequence[int]) -> Array:
    """Some rows and columns of a matrix, and one of each for the sum of all others."""

    def along(values: Array, kept: Sequence[int]) -> Array:
        others = np.delete(values, kept, axis=0).sum(axis=0)
        return np.vstack([values[list(kept)], others[None]])

    return along(along(matrix, rows).T, columns).T
