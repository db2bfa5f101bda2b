"""The matrices of a model as numpy arrays; see `tfmviz.record.weights`. On the CPU float32 is not copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TypeVar, assert_never, cast

import numpy as np
import torch
from torch import Tensor, nn

from tfmviz.model.attention import Attention
from tfmviz.model.block import Block, Residual, Stack
from tfmviz.model.device import device_of, to_array
from tfmviz.model.feed_forward import Experts, FeedForward, GatedFeedForward
from tfmviz.model.linear import HALF
from tfmviz.model.transformer import DecoderOnly, EncoderOnly, Headless, Transform, Transformer
from tfmviz.positions.base import Positions
from tfmviz.record.tap import NO_TAP
from tfmviz.record.trace import Array
from tfmviz.record.weights import (
    AttentionWeights,
    ExpertsWeights,
    FeedForwardWeights,
    ModelWeights,
    Norm,
    PositionEffects,
    Readout,
    StackWeights,
)

Part = TypeVar("Part")

COPIES = 2
"""Attention layers cached as float32 if matrices are in half precision; of other layers one is cached."""


class OnRequest(Mapping[str, Part]):
    """The matrices of layers by path, converted on access."""

    def __init__(self, parts: Mapping[str, Callable[[], Part]], *, kept: int | None) -> None:
        self._parts = parts
        self._read = lru_cache(maxsize=kept)(lambda site: parts[site]())

    def __getitem__(self, site: str) -> Part:
        return self._read(site)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def weights_of(model: Transformer) -> ModelWeights:
    """All matrices; they share the model's memory, unless it is on a GPU or in half precision."""
    W_E = to_array(model.embedding.W_E)
    W_U = W_E if model.embedding.W_U is None else to_array(model.embedding.W_U)
    return ModelWeights(
        W_E=W_E,
        W_U=W_U,
        stacks={name: _stack(name, stack, _readout(model, stack, W_U)) for name, stack in stacks_of(model).items()},
        n_parameters=sum(parameter.numel() for parameter in model.parameters()),
        segment=_segment(model),
        separator=model.embedding.separator,
        n_head_parameters=sum(parameter.numel() for parameter in model.head.parameters()),
        has_head=not isinstance(model.head, Headless),
    )


def _segment(model: Transformer) -> Array | None:
    rows = (model.embedding.segment, model.embedding.second_segment)
    return None if rows[0] is None else np.stack([to_array(row) for row in rows if row is not None])


def stacks_of(model: Transformer) -> dict[str, Stack]:
    """The encoder, the decoder or both, in order."""
    match model:
        case DecoderOnly():
            return {"decoder": model.decoder}
        case EncoderOnly():
            return {"encoder": model.encoder}
    return {"encoder": model.encoder, "decoder": model.decoder}


@torch.inference_mode()
def effects_of(scheme: Positions, length: int, *, d_model: int, device: torch.device | None = None) -> PositionEffects:
    """The effects of a scheme on a text of `length` tokens.

    Raises:
        ValueError: a learned table is shorter.
    """
    nothing = torch.zeros(1, length, d_model, device=device)
    embedded = scheme.embed(nothing, NO_TAP)
    turns, bias, vectors = scheme.turns(length), scheme.bias(length, length), scheme.vectors(length)
    return PositionEffects(
        added=None if embedded is nothing else to_array(embedded[0]),
        angles=None if turns is None else to_array(turns),
        bias=None if bias is None else to_array(bias),
        vectors=None if vectors is None else to_array(vectors),
    )


def _stack(name: str, stack: Stack, readout: Readout) -> StackWeights:
    attention: dict[str, Callable[[], AttentionWeights]] = {}
    feed_forward: dict[str, Callable[[], FeedForwardWeights]] = {}
    experts: dict[str, Callable[[], ExpertsWeights]] = {}
    kept = COPIES if any(parameter.dtype in HALF for parameter in stack.parameters()) else None
    norms: dict[str, Norm] = {}
    one = np.ones(block_width(stack), dtype=np.float32)
    nothing = Norm(kind="none", gain=one, bias=0 * one, eps=0.0)
    for index, block in enumerate(stack.layers):
        assert isinstance(block, Block)
        for part, layer, residual in (
            ("self_attn", block.self_attn, block.self_attn_residual),
            ("cross_attn", block.cross_attn, block.cross_attn_residual),
            ("mlp", block.mlp, block.mlp_residual),
        ):
            site = f"{name}.{index}.{part}"
            if isinstance(residual, Residual):
                norms[site] = _norm(residual.norm) or nothing
            match layer:
                case Attention():
                    attention[site] = partial(_attention, layer)
                case FeedForward() | GatedFeedForward():
                    feed_forward[site] = partial(_feed_forward, layer)
                case Experts():
                    experts[site] = partial(_experts, layer)
                case None:
                    pass
                case _:
                    assert_never(layer)
    return StackWeights(
        attention=OnRequest(attention, kept=kept),
        feed_forward=OnRequest(feed_forward, kept=kept and 1),
        norms=norms,
        readout=readout,
        n_position_parameters=sum(
            value.numel() for name, value in stack.named_parameters() if "positions" in name.split(".")
        ),
        embed_norm=_norm(stack.embed_norm),
        n_widening_parameters=sum(value.numel() for value in stack.widening.parameters()) if stack.widening else 0,
        experts=OnRequest(experts, kept=kept and 1),
        is_shared=len(stack.blocks) < len(stack.layers),
    )


def block_width(stack: Stack) -> int:
    block = stack.layers[0]
    assert isinstance(block, Block)
    return block.self_attn.W_Q.in_features


def _readout(model: Transformer, stack: Stack, W_U: Array) -> Readout:
    """A model without a head still has W_U: its embedding."""
    norm = _norm(stack.norm)
    if isinstance(model.head, Headless):
        return Readout(norm=norm, W_U=W_U)
    transform = model.head.transform
    return Readout(
        norm=norm,
        W_U=W_U,
        b_U=None if model.head.b_U is None else to_array(model.head.b_U),
        transform=None if transform is None else partial(_transformed, transform),
        cap=model.head.cap,
    )


@torch.inference_mode()
def _transformed(transform: Transform, x: Array) -> Array:
    return to_array(transform(torch.from_numpy(x.astype(np.float32)).to(device_of(transform))))


def _attention(layer: Attention) -> AttentionWeights:
    def heads(weight: Tensor) -> Array:
        """(heads × d_head, …) to (heads, d_head, …)."""
        return to_array(weight.unflatten(0, (-1, layer.d_head)))

    return AttentionWeights(
        W_Q=heads(layer.W_Q.weight).swapaxes(1, 2),
        b_Q=heads(layer.W_Q.bias),
        W_K=heads(layer.W_K.weight).swapaxes(1, 2),
        b_K=heads(layer.W_K.bias),
        W_V=heads(layer.W_V.weight).swapaxes(1, 2),
        b_V=heads(layer.W_V.bias),
        W_O=heads(layer.W_O.weight.T),
        b_O=to_array(layer.W_O.bias),
        divisor=layer.divisor,
        q_norm=_norm(layer.q_norm),
        k_norm=_norm(layer.k_norm),
        out_norm=_norm(layer.out_norm),
        cap=layer.score_cap,
        is_linear=layer.is_linear,
        sink=None if layer.sink is None else to_array(layer.sink),
    )


def _feed_forward(layer: FeedForward | GatedFeedForward) -> FeedForwardWeights:
    gate = layer.W_gate if isinstance(layer, GatedFeedForward) else None
    assert layer.kind != "none"
    return FeedForwardWeights(
        activation=layer.kind,
        W_in=to_array(layer.W_in.weight.T),
        b_in=to_array(layer.W_in.bias),
        W_out=to_array(layer.W_out.weight.T),
        b_out=to_array(layer.W_out.bias),
        W_gate=None if gate is None else to_array(gate.weight.T),
        b_gate=None if gate is None else to_array(gate.bias),
        out_norm=_norm(layer.out_norm),
    )


def _experts(layer: Experts) -> ExpertsWeights:
    return ExpertsWeights(
        W_R=to_array(layer.W_R.weight.T),
        b_R=to_array(layer.W_R.bias),
        experts=tuple(_feed_forward(cast(FeedForward | GatedFeedForward, expert)) for expert in layer.experts),
        n_chosen=layer.n_chosen,
        shared=None if layer.shared is None else _feed_forward(layer.shared),
        W_S=None if layer.W_S is None else to_array(layer.W_S.weight.T),
        b_S=None if layer.W_S is None else to_array(layer.W_S.bias),
    )


def _norm(norm: nn.Module | None) -> Norm | None:
    """None for the identity too."""
    if norm is None or isinstance(norm, nn.Identity):
        return None
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    gain = to_array(norm.weight)
    return Norm(
        kind="layer" if isinstance(norm, nn.LayerNorm) else "rms",
        gain=gain,
        bias=to_array(norm.bias) if isinstance(norm, nn.LayerNorm) else 0 * gain,
        eps=float(norm.eps or 0.0),
    )
