"""A checkpoint's tensors, as a table from our names to theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor

from tfmviz.huggingface.family import Weights
from tfmviz.huggingface.source import Source
from tfmviz.huggingface.turning import longer, pairs, turned_width
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import parameter_shapes


def joined(rows: Tensor, ours: ModelConfig, part: str) -> Tensor:
    """One of several matrices stacked in a tensor: queries, keys and values, or gate and input."""
    if part in ("W_gate", "W_in"):
        return rows.chunk(2)[part == "W_in"]
    d_q, d_kv = ours.attention.n_heads * ours.d_head, ours.attention.n_kv_heads * ours.d_head
    return rows.split((d_q, d_kv, d_kv))[QKV.index(part)]


def by_group(rows: Tensor, ours: ModelConfig, part: str) -> Tensor:
    """The same with rows ordered by group: its queries, its key, its value."""
    n_kv_heads = ours.attention.n_kv_heads
    rows = rows.unflatten(0, (n_kv_heads, -1, ours.d_head))
    n = {"W_Q": slice(-2), "W_K": slice(-2, -1), "W_V": slice(-1, None)}[part]
    return rows[:, n].flatten(0, 2)


QKV = ("W_Q", "W_K", "W_V")


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """A family's names of tensors, by ours.

    Attributes:
        outside: tensors outside the layers, with ".weight" or ".bias", which others lack.
        layer: the parts of a layer; several of ours may share a tensor. "": there is none, as in a norm without γ. {e}
            is an expert's number.
        path: of layer {n} of a {stack}; names outside may have a {stack} too.
        cut: takes one of our matrices out of a shared tensor.
        transposed: patterns of the parts stored transposed.
        in_halves: RoPE pairs coordinate m with m + d/2, not with its neighbour.
        gain_from_1: γ − 1 is stored.
        factor: of a parameter of ours.
        first_position: the first token's row in the table of positions.
    """

    outside: Mapping[str, str]
    layer: Mapping[str, str]
    path: str = "layers.{n}"
    cut: Callable[[Tensor, ModelConfig, str], Tensor] = joined
    transposed: tuple[str, ...] = ()
    in_halves: bool = True
    gain_from_1: bool = False
    factor: Callable[[Any, str], float] = lambda theirs, name: 1.0
    first_position: int = 0

    def weights(self, source: Source, theirs: Any, ours: ModelConfig) -> Weights:
        for name, shape in parameter_shapes(ours).items():
            value = self._value(source, theirs, ours, name, shape)
            factor = self.factor(theirs, name)
            yield name, value if factor == 1 else value.float() * factor

    def _value(self, source: Source, theirs: Any, ours: ModelConfig, name: str, shape: tuple[int, ...]) -> Tensor:
        stack, _, rest = name.partition(".blocks.")
        if not rest:
            own = name if name in self.outside or name.rpartition(".")[0] in self.outside else name.partition(".")[2]
            return self._outside(source, ours, own, name.partition(".")[0], shape)
        n, _, rest = rest.partition(".")
        path = self.path.format(stack=stack, n=n)
        if rest in self.layer:  # a tensor that is neither a weight nor a bias
            return source[f"{path}.{self.layer[rest]}"]
        part, _, kind = rest.rpartition(".")
        before, of_expert, after = part.partition("experts.")
        expert, _, short = after.rpartition(".") if of_expert else part.rpartition(".")
        if of_expert:
            part = f"{before}experts.{{e}}.{short}"
        theirs_part = self.layer[part].format(e=expert)
        value = _stored(source, f"{path}.{theirs_part}" if theirs_part else "", kind, shape)
        if value.ndim == 2 and any(fnmatchcase(part, pattern) for pattern in self.transposed):
            value = value.T
        if short in ("W_Q", "W_K", "W_V", "W_gate", "W_in") and list(self.layer.values()).count(self.layer[part]) > 1:
            value = value if value.shape == shape else self.cut(value, ours, short)
        if self.gain_from_1 and kind == "weight" and "norm" in part:
            value = value.float() + 1
        if ours.scheme.acts == "rotate" and short in ("W_Q", "W_K", "q_norm", "k_norm"):
            value = self._for_turns(value, theirs, ours, int(n), short)
        return value

    def _outside(self, source: Source, ours: ModelConfig, own: str, stack: str, shape: tuple[int, ...]) -> Tensor:
        if own in self.outside:
            if not self.outside[own]:
                return torch.zeros(shape)
            found = source[self.outside[own].format(stack=stack)]
            if own == "embedding.segment":
                return found[0]
            if own == "positions.table":
                return found[self.first_position : self.first_position + ours.max_len]
            return found.flatten() if own == "head.b_U" else found
        part, _, kind = own.rpartition(".")
        value = _stored(source, self.outside[part].format(stack=stack), kind, shape)
        return value.float() + 1 if self.gain_from_1 and kind == "weight" else value

    def _for_turns(self, value: Tensor, theirs: Any, ours: ModelConfig, layer: int, short: str) -> Tensor:
        """Each head's coordinates in our order, scaled as by YaRN and LongRoPE."""
        turned = turned_width(theirs, ours.d_head, layer)
        if self.in_halves:
            value = reordered(value, pairs(ours.d_head, turned), ours.d_head)
        if (times := longer(theirs, layer)) != 1 and (short.endswith("norm") or ours.attention.qk_norm == "absent"):
            gain = torch.where(torch.arange(ours.d_head) < turned, times, 1.0).repeat(len(value) // ours.d_head)
            value = value.float() * (gain if value.ndim == 1 else gain[:, None])
        return value


def _stored(source: Source, name: str, kind: str, shape: tuple[int, ...]) -> Tensor:
    """A tensor; a missing bias is 0, a missing γ 1."""
    if not name or (kind == "bias" and f"{name}.bias" not in source):
        return torch.zeros(shape) if kind == "bias" else torch.ones(shape)
    return source[f"{name}.{kind}"]


def reordered(rows: Tensor, order: Tensor, d_head: int) -> Tensor:
    """The rows of every head, (heads × d_head, …), in another order."""
    return rows.unflatten(0, (-1, d_head))[:, order].flatten(0, 1)


def all_of(tensor: str) -> dict[str, str]:
    """Queries, keys and values in one tensor."""
    return {f"self_attn.W_{letter}": tensor for letter in "QKV"}


def with_parts(layout: Layout, *layers: Mapping[str, str], **more: Any) -> Layout:
    names = dict(layout.layer)
    for other in layers:
        names |= other
    return replace(layout, layer=names, **more)
