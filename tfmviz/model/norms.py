"""The norms of a model, and their positions."""

from __future__ import annotations

from typing import assert_never

from torch import nn

from tfmviz.model.config import ModelConfig


def build_norm(config: ModelConfig, *, width: int | None = None) -> nn.Module:
    """LayerNorm (x - μ) / √(σ² + ε) · γ + β over each token's coordinates, d_model or `width`, or RMSNorm x / √(mean
    x² + ε) · γ.
    """
    width = width or config.d_model
    match config.norm.kind:
        case "layer":
            return nn.LayerNorm(width, eps=config.norm.eps)
        case "rms":
            return nn.RMSNorm(width, eps=config.norm.eps)
        case _:
            assert_never(config.norm.kind)


def build_norm_before(config: ModelConfig, *, is_first: bool = False) -> nn.Module:
    """The norm before a layer, or the identity if it reads the stream directly."""
    match config.norm.position:
        case "out":
            return nn.Identity()
        case "pre" | "post" | "both":
            return nn.Identity() if is_first and not config.norm.first else build_norm(config)
        case _:
            assert_never(config.norm.position)


def build_out_norm(config: ModelConfig) -> nn.Module:
    """The norm of a layer's output, or the identity."""
    match config.norm.position:
        case "both" | "out":
            return build_norm(config)
        case "pre" | "post":
            return nn.Identity()
        case _:
            assert_never(config.norm.position)


def build_qk_norm(config: ModelConfig, n_heads: int) -> nn.Module:
    """RMSNorm over the d_head coordinates of each query or key (Henry et al. 2020), over those of all heads together,
    or the identity.
    """
    match config.attention.qk_norm:
        case "absent":
            return nn.Identity()
        case "present":
            return nn.RMSNorm(config.d_head, eps=config.norm.eps)
        case "all heads":
            return nn.RMSNorm(n_heads * config.d_head, eps=config.norm.eps)
        case _:
            assert_never(config.attention.qk_norm)
