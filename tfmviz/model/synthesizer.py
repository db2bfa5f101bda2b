"""Attention without comparing tokens: the Synthesizer (Tay et al. 2020).

"dense" computes a query's scores from that token alone; "random" looks them up in a trained table, the same for every
text. A text cannot be longer than `max_len`.

No configuration describes such models, so they are never exported.
"""

from __future__ import annotations

from typing import Literal, assert_never

import torch
from torch import Tensor, nn

from tfmviz.model.attention import NO_POSITIONS
from tfmviz.model.block import Block
from tfmviz.model.config import ModelConfig
from tfmviz.model.linear import Dropout, Linear
from tfmviz.model.transformer import DecoderOnly, initialise
from tfmviz.positions.base import Positions
from tfmviz.record.tap import Tap

Synthesis = Literal["dense", "random"]


class RandomScores(nn.Module):
    """R of every head, a table of max_len × max_len scores (section 3.2, "Random Synthesizer")."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.R = nn.Parameter(0.02 * torch.randn(config.attention.n_heads, config.max_len, config.max_len))

    def forward(self, x: Tensor) -> Tensor:
        """(batch, len, d_model) to (head, len, len), independent of x."""
        return self.R[:, : x.shape[1], : x.shape[1]]


class DenseScores(nn.Module):
    """relu(x W_1 + b_1) W_2: a row of max_len scores from each token alone (section 3.1, "Dense Synthesizer")."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads = config.attention.n_heads
        self.W_1 = Linear(config.d_model, config.attention.n_heads * config.d_head)
        self.W_2 = nn.Parameter(0.02 * torch.randn(config.attention.n_heads, config.d_head, config.max_len))

    def forward(self, x: Tensor) -> Tensor:
        """(batch, len, d_model) to (batch, head, len, len)."""
        hidden = self.W_1(x).relu().unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (batch, head, len, d_head)
        return hidden @ self.W_2[..., : x.shape[1]]


class Synthesizer(nn.Module):
    """softmax(scores, over the allowed keys) V, for every head, merged by W_O; replaces `Attention`."""

    def __init__(self, config: ModelConfig, kind: Synthesis) -> None:
        super().__init__()
        self.d_head = config.d_head
        self.dropout = Dropout(config.dropout)
        self.scores = build_scores(config, kind)
        self.W_V = Linear(config.d_model, config.attention.n_heads * config.d_head)
        self.W_O = Linear(config.attention.n_heads * config.d_head, config.d_model)

    def forward(
        self,
        x_q: Tensor,
        x_kv: Tensor,
        *,
        mask: Tensor,
        tap: Tap,
        positions: Positions = NO_POSITIONS,
        bias: Tensor | None = None,
    ) -> Tensor:
        v = tap("v", self.W_V(x_kv).unflatten(-1, (-1, self.d_head)).transpose(1, 2))  # (batch, head, len, d_head)
        scores = tap("scores", torch.where(mask, self.scores(x_q), -torch.inf))  # ([batch,] head, len, len)
        pattern = tap("pattern", scores.softmax(dim=-1))
        z = tap("z", self.dropout(pattern).to(v.dtype) @ v)  # (batch, head, len, d_head)
        return tap("out", self.W_O(z.transpose(1, 2).flatten(2)))  # (batch, len, d_model)


def build_scores(config: ModelConfig, kind: Synthesis) -> RandomScores | DenseScores:
    match kind:
        case "random":
            return RandomScores(config)
        case "dense":
            return DenseScores(config)
        case _:
            assert_never(kind)


def synthesize(model: DecoderOnly, kind: Synthesis) -> DecoderOnly:
    """Replaces every attention layer of a new model, and returns it."""
    for block in model.decoder.blocks:
        assert isinstance(block, Block)
        block.self_attn = Synthesizer(model.config, kind)  # type: ignore[assignment]
    initialise(model)
    return model
