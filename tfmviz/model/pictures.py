"""A transformer that reads pictures as sequences of patches (Dosovitskiy et al. 2021)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz import masks
from tfmviz.model.block import Stack
from tfmviz.model.config import ModelConfig
from tfmviz.model.linear import Linear
from tfmviz.record.facts import AttentionFacts, EmbeddingFacts, FeedForwardFacts, PositionFacts
from tfmviz.record.tap import NO_TAP, Tap

SIDE, PATCH, CLASSES = 8, 2, 10
"""Sides of a picture and of a patch, in cells; digits."""

ACROSS = SIDE // PATCH
"""Patches per side."""

N_PATCHES = ACROSS**2


def config(positions: str) -> ModelConfig:
    """Three small layers with full attention."""
    return ModelConfig(
        architecture="encoder-only",
        vocab_size=CLASSES,
        max_len=1 + N_PATCHES,
        d_model=48,
        n_layers=3,
        attention=AttentionFacts(n_heads=4, n_kv_heads=4),
        feed_forward=FeedForwardFacts(d_ff=4 * 48),
        positions=PositionFacts(kind=positions),
        embeddings=EmbeddingFacts(tied=False),
    )


def patches(pictures: Tensor) -> Tensor:
    """(batch, side, side) to (batch, patch, values of a patch), row by row."""
    return F.unfold(pictures[:, None].float(), PATCH, stride=PATCH).transpose(1, 2)


class PictureReader(nn.Module):
    """Classifies pictures of digits.

    A patch p enters as p W_P + b_P. A trained [class] vector precedes the patches; its last stream is multiplied by
    W_U.

    Sites: `embed`, (batch, 1 + patch, d_model); those of an encoder; `logits`, (batch, digit).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.W_P = Linear(PATCH**2, config.d_model)
        self.class_token = nn.Parameter(torch.zeros(config.d_model))
        self.encoder = Stack(config, bidirectional=True)
        self.W_U = Linear(config.d_model, config.vocab_size)
        nn.init.normal_(self.class_token, std=0.02)

    def forward(self, patches: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """(batch, patch, values in [0, 1]) to (batch, digit)."""
        first = self.class_token.expand(len(patches), 1, -1)
        x = tap("embed", torch.cat((first, self.W_P(patches)), dim=1))  # (batch, 1 + patch, d_model)
        x = self.encoder(x, mask=masks.full(x.shape[1], x.shape[1], device=x.device), tap=tap.scope("encoder"))
        return tap("logits", self.W_U(x[:, 0]))  # (batch, digit)
