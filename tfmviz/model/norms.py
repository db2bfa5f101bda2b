"""The norms of a model, and where a configuration puts one."""

from __future__ import annotations

from typing import assert_never

from torch import nn

from tfmviz.model.config import ModelConfig


def build_norm(config: ModelConfig) -> nn.Module:
    """LayerNorm (x - μ) / √(σ² + ε) · γ + β over each token's d_model numbers, or RMSNorm x / √(mean x² + ε) · γ."""
    match config.norm.kind:
        case "layer":
            return nn.LayerNorm(config.d_model, eps=config.norm.eps)
        case "rms":
            return nn.RMSNorm(config.d_model, eps=config.norm.eps)
        case _:
            assert_never(config.norm.kind)


def build_last_norm(config: ModelConfig) -> nn.Module | None:
    """The norm at the end of a stack. In post-norm every block already ends with one."""
    return None if config.norm.position == "post" else build_norm(config)


def build_out_norm(config: ModelConfig) -> nn.Module:
    """The norm of what a layer writes, before it is added to the stream; the identity but for norms on "both" sides."""
    match config.norm.position:
        case "both":
            return build_norm(config)
        case "pre" | "post":
            return nn.Identity()
        case _:
            assert_never(config.norm.position)


def build_qk_norm(config: ModelConfig) -> nn.Module:
    """RMSNorm over the d_head numbers of each query or key (Henry et al. 2020), or the identity."""
    return nn.RMSNorm(config.d_head, eps=config.norm.eps) if config.attention.qk_norm else nn.Identity()


def build_embedding_norm(config: ModelConfig) -> nn.Module | None:
    """The norm before the first block of a stack, if there is one."""
    return build_norm(config) if config.embeddings.norm else None
