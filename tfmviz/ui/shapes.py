"""The shape of a model, as the analyses of costs take it."""

from __future__ import annotations

from tfmviz.analysis.multiplications import Shape
from tfmviz.model.config import ModelConfig


def shapes_of(config: ModelConfig) -> dict[str, Shape]:
    """What the costs of each stack depend on; the stack that runs last has the vocabulary."""
    return {stack: _shape(config, stack) for stack in config.stacks}


def _shape(config: ModelConfig, stack: str) -> Shape:
    predicts = stack == config.stacks[-1] and config.head != "none"
    return Shape(
        n_layers=config.depth(stack),
        d_model=config.d_model,
        n_heads=config.n_heads,
        n_kv_heads=config.n_kv_heads,
        d_head=config.d_head,
        n_matrices=0 if config.feed_forward == "none" else 3 if config.is_gated else 2,
        d_ff=config.d_ff,
        vocab_size=config.vocab_size if predicts else 0,
        n_experts=config.n_experts,
        n_head_matrices=int(predicts and config.head == "transform"),
    )
