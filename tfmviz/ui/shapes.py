from __future__ import annotations

from tfmviz.analysis.cache_cost import Kept, linear_state
from tfmviz.analysis.multiplications import Shape
from tfmviz.record.facts import Facts


def shapes_of(config: Facts) -> dict[str, Shape]:
    """Shapes of the stacks; the one that runs last has the vocabulary."""
    return {stack: _shape(config, stack) for stack in config.stacks}


def kept(config: Facts, length: int, *, size: int) -> int:
    """Bytes that a decoder must keep after `length` tokens in order to continue, at `size` bytes a number."""
    n_layers = config.depth("decoder")
    if config.attention.kind == "linear":
        return linear_state(n_layers=n_layers, n_heads=config.attention.n_heads, d_head=config.d_head, size=size)
    cache = Kept(
        n_layers=n_layers,
        n_kv_heads=config.attention.n_kv_heads,
        d_head=config.d_head,
        size=size,
        n_local=n_local(config),
        window=config.attention.window or 0,
    )
    return cache.at(length)


def n_local(config: Facts) -> int:
    """Layers of the decoder, or of an encoder alone, that see only the last tokens."""
    return sum(config.attention.window_in(n) is not None for n in range(config.depth(config.stacks[-1])))


def _shape(config: Facts, stack: str) -> Shape:
    predicts = stack == config.stacks[-1] and config.head != "none"
    return Shape(
        n_layers=config.depth(stack),
        d_model=config.d_model,
        n_heads=config.attention.n_heads,
        n_kv_heads=config.attention.n_kv_heads,
        d_head=config.d_head,
        n_matrices=config.feed_forward.n_matrices,
        d_ff=config.feed_forward.d_ff,
        vocab_size=config.vocab_size if predicts else 0,
        n_experts=config.feed_forward.n_experts,
        n_chosen=config.feed_forward.n_chosen,
        d_shared=config.feed_forward.d_shared or 0,
        d_embed=config.embeddings.width,
        n_head_matrices=int(predicts and config.head == "transform"),
    )
