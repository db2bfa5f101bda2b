"""Gradients at initialisation, layer by layer: the effect of the norm's position."""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import nn

from tfmviz.model.block import Block
from tfmviz.model.config import ModelConfig
from tfmviz.model.feed_forward import FeedForward
from tfmviz.model.in_training import seeded
from tfmviz.model.transformer import DecoderOnly, Embedding
from tfmviz.record.facts import (
    AttentionFacts,
    EmbeddingFacts,
    FeedForwardFacts,
    NormFacts,
    NormPosition,
    PositionFacts,
)

BATCH, LENGTH, VOCAB = 8, 64, 512
"""Random tokens suffice, since nothing is learned."""

WIDTH, HEADS = 64, 4


def config(*, n_layers: int, norm_position: NormPosition) -> ModelConfig:
    """A small language model in the shape of the 2017 paper."""
    return ModelConfig(
        vocab_size=VOCAB,
        max_len=LENGTH,
        d_model=WIDTH,
        n_layers=n_layers,
        attention=AttentionFacts(n_heads=HEADS, n_kv_heads=HEADS),
        feed_forward=FeedForwardFacts(kind="relu", d_ff=4 * WIDTH),
        norm=NormFacts(position=norm_position),
        positions=PositionFacts(kind="sinusoidal"),
        embeddings=EmbeddingFacts(tied=False, scaled=True),
    )


def gradients_at_start(*, n_layers: int, norm_position: NormPosition, seed: int) -> list[float]:
    """‖∂ loss / ∂ W_out‖ of every feed-forward layer in an untrained language model.

    As in Xiong et al. 2020 (section 3, figure 3), matrices have Xavier's normal weights. By their theorem 1 the last
    layer's gradient is √n_layers times as large in a post-norm model, up to a constant factor.
    """
    with seeded(seed):  # leaves the global generator alone; the weights are redrawn below
        model = DecoderOnly(config(n_layers=n_layers, norm_position=norm_position))
    generator = torch.Generator().manual_seed(seed)
    draw(model, generator)
    ids = torch.randint(VOCAB, (BATCH, LENGTH + 1), generator=generator)
    logits = model(ids[:, :-1])  # (batch, len, vocab)
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    weights = [cast(FeedForward, cast(Block, block).mlp).W_out.weight for block in model.decoder.blocks]
    return [gradient.norm().item() for gradient in torch.autograd.grad(loss, weights)]


@torch.no_grad()
def draw(model: nn.Module, generator: torch.Generator) -> None:
    """Xavier's weights: normal with σ² = 2 / (inputs + outputs); tokens with σ² = 1 / d_model; biases stay 0."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight, generator=generator)
        elif isinstance(module, Embedding):
            for table in module.parameters():
                table.normal_(std=WIDTH**-0.5, generator=generator)
