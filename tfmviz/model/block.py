"""The transformer block and the stack of blocks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import assert_never, cast

import torch
from torch import Tensor, nn

from tfmviz import deadline, masks
from tfmviz.model.attention import Attention
from tfmviz.model.config import ModelConfig
from tfmviz.model.feed_forward import Experts, FeedForward, GatedFeedForward, build_expert
from tfmviz.model.linear import Dropout, Linear
from tfmviz.model.norms import build_norm, build_norm_before
from tfmviz.positions.base import Positions
from tfmviz.record.tap import Tap


def build_positions(config: ModelConfig, *, bidirectional: bool) -> Positions:
    """The position scheme of a stack, except of layers with another θ.

    Formulas are computed on the CPU even without weights, since no file supplies them.
    """
    with nullcontext() if config.scheme.table else torch.device("cpu"):
        return config.scheme.implementation().of(config, bidirectional=bidirectional)


def build_other_positions(config: ModelConfig, *, bidirectional: bool) -> Positions | None:
    """The scheme of the layers that rotate by another θ."""
    if config.positions.other_theta is None:
        return None
    other = replace(config.positions, rope_theta=config.positions.other_theta)
    return build_positions(replace(config, positions=other), bidirectional=bidirectional)


def build_feed_forward(config: ModelConfig) -> FeedForward | GatedFeedForward | Experts | None:
    """None in an attention-only model (Elhage et al. 2021)."""
    if config.feed_forward.kind == "none":
        return None
    return build_expert(config) if config.feed_forward.n_experts == 1 else Experts(config)


def is_parallel(config: ModelConfig) -> bool:
    """True if the feed-forward layer reads the stream that self-attention read (Wang 2021)."""
    match config.residual:
        case "sequential" | "absent":
            return False
        case "parallel":
            return True
        case _:
            assert_never(config.residual)


class Residual(nn.Module):
    """One step of the residual stream around a layer f.

    pre-norm: x + f(Norm(x)); the stream is a plain sum. post-norm, the 2017 paper: Norm(x + f(x)). With norms on both
    sides, or only at the end, f itself ends with one. Without residual connections x is left out.
    """

    def __init__(self, config: ModelConfig, *, is_first: bool = False) -> None:
        super().__init__()
        self.norm_position = config.norm.position
        self.carries = config.residual != "absent"  # the stream passes the layer (He et al. 2016)
        self.norm = build_norm_before(config, is_first=is_first)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, layer: Callable[[Tensor], Tensor], *, tap: Tap, reads: Tensor | None = None) -> Tensor:
        """x: (batch, len, d_model); reads: what the layer reads, if not x."""
        match self.norm_position:
            case "pre" | "both" | "out":
                written = self.dropout(layer(tap("norm", self.norm(x if reads is None else reads))))
                return x + written if self.carries else written
            case "post":
                written = self.dropout(layer(x))
                return tap("norm", self.norm(x + written if self.carries else written))
            case _:
                assert_never(self.norm_position)


class Block(nn.Module):
    """Self-attention, then cross-attention and feed-forward, if any.

    In a parallel block the feed-forward layer reads what self-attention read: site `mlp.reads`. `positions` is the
    block's own scheme.

    Sites: `resid_pre` before the block, `resid_mid` after self-attention, `resid_cross` after cross-attention,
    `resid_post` after the feed-forward layer, each (batch, len, d_model).
    """

    def __init__(self, config: ModelConfig, *, bidirectional: bool, cross: bool, is_first: bool) -> None:
        super().__init__()
        in_each_layer = config.positions.in_each_layer
        self.positions = build_positions(config, bidirectional=bidirectional) if in_each_layer else None
        self.self_attn = Attention(config)
        self.self_attn_residual = Residual(config, is_first=is_first)
        self.cross_attn = Attention(config) if cross else None
        self.cross_attn_residual = Residual(config) if cross else None
        self.is_parallel = is_parallel(config)
        self.mlp = build_feed_forward(config)
        self.mlp_residual = None if self.mlp is None else Residual(config)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor,
        tap: Tap,
        positions: Positions,
        bias: Tensor | None,
        memory: Tensor | None,
        memory_mask: Tensor | None,
    ) -> Tensor:
        x = before = tap("resid_pre", x)  # (batch, len, d_model), and so below

        within = tap.scope("self_attn")
        x = self.self_attn_residual(
            x,
            lambda h: self.self_attn(h, h, mask=mask, positions=positions, bias=bias, tap=within),
            tap=within,
        )
        x = tap("resid_mid", x)

        if self.cross_attn is not None and self.cross_attn_residual is not None:
            across = tap.scope("cross_attn")
            x = self.cross_attn_residual(
                x, lambda h: self.cross_attn(h, memory, mask=memory_mask, tap=across), tap=across
            )
            x = tap("resid_cross", x)

        if self.mlp is not None and self.mlp_residual is not None:
            inside = tap.scope("mlp")
            reads = inside("reads", before) if self.is_parallel else x
            x = self.mlp_residual(x, lambda h: self.mlp(h, tap=inside), tap=inside, reads=reads)
        return tap("resid_post", x)


class Stack(nn.Module):
    """An encoder or a decoder: positions, blocks and, except in post-norm, a last norm.

    Sites: `pos_embed` if the scheme adds a vector, `embed_norm` for a norm before the first block, `widened` for a
    matrix there from d_embed to d_model (Lan et al. 2020, section 3.1), `0.…`, `1.…` per block, `norm` for the last.
    """

    def __init__(self, config: ModelConfig, *, bidirectional: bool, cross: bool = False) -> None:
        super().__init__()
        in_each_layer = config.positions.in_each_layer
        self.positions = Positions() if in_each_layer else build_positions(config, bidirectional=bidirectional)
        self.other_positions = build_other_positions(config, bidirectional=bidirectional)
        self.facts = config.positions
        self.window_in = config.attention.window_in
        self.embed_norm = build_norm(config, width=config.d_embed) if config.embeddings.norm else None
        self.widening = None if config.embeddings.width is None else Linear(config.d_embed, config.d_model)
        self.dropout = Dropout(config.dropout)
        name = "encoder" if bidirectional else "decoder"
        self.n_layers = config.depth(name)
        self.blocks = nn.ModuleList(
            Block(config, bidirectional=bidirectional, cross=cross, is_first=n == 0)
            for n in range(config.n_blocks(name))
        )
        self.norm = None if config.norm.position == "post" else build_norm(config)

    @property
    def layers(self) -> list[nn.Module]:
        """The block of each layer; the same one if layers are shared."""
        return list(self.blocks) * (self.n_layers // len(self.blocks))

    def positions_in(self, layer: int) -> Positions:
        if (own := cast(Block, self.layers[layer]).positions) is not None:
            return own
        is_other = layer in (self.facts.other_layers or ())
        return self.other_positions if is_other and self.other_positions is not None else self.positions

    def mask_in(self, layer: int, mask: Tensor) -> Tensor:
        window = self.window_in(layer)
        return mask if window is None else mask & masks.near(mask.shape[-2], mask.shape[-1], window, device=mask.device)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor,
        tap: Tap,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Runs the stack: (batch, len, d_model).

        Args:
            x: (batch, len, d_embed), without positions.
            mask: broadcasts to (batch, head, len, k_len); layers with a window see less. A cache makes k_len > len.
            memory: (batch, k_len, d_model), the input of cross-attention.
            memory_mask: likewise.
        """
        q_len, k_len = x.shape[1], mask.shape[-1]
        x = self.positions.embed(x, tap, past=k_len - q_len)
        if self.embed_norm is not None:
            x = tap("embed_norm", self.embed_norm(x))
        if self.widening is not None:
            x = tap("widened", self.widening(x))  # (batch, len, d_model)
        x = self.dropout(x)
        bias = biases(self.positions, q_len, k_len, x.device)  # once for all blocks
        for index, block in enumerate(self.layers):
            deadline.check(index, len(self.layers))
            own = cast(Block, block).positions
            x = block(
                x,
                mask=self.mask_in(index, mask),
                tap=tap.scope(str(index)),
                positions=self.positions_in(index),
                bias=bias if own is None else biases(own, q_len, k_len, x.device),
                memory=memory,
                memory_mask=memory_mask,
            )
        deadline.check(len(self.layers), len(self.layers))
        return x if self.norm is None else tap("norm", self.norm(x))


def biases(positions: Positions, q_len: int, k_len: int, device: torch.device) -> Tensor | None:
    """The scheme's bias on the scaled scores, (head, q_len, k_len)."""
    bias = positions.bias(q_len, k_len)
    return None if bias is None else bias.to(device)
