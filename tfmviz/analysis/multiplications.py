"""Multiplications of a transformer, part by part.

A product with an m × n matrix costs m · n multiplications per vector. Sums, softmaxes and norms are left out. FLOPs,
which count additions too, are twice as many.
"""

from __future__ import annotations

from dataclasses import dataclass

PARTS = ("projections", "scores", "values", "feed-forward", "vocabulary")
"""The last one is W_U, the head's matrix before it, and the widening of embeddings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The sizes of a stack of blocks.

    Attributes:
        n_matrices: d_model × d_ff, in a feed-forward layer.
        n_experts: of which a router chooses `n_chosen`; 1: no router.
        d_shared: width of a shared expert; 0: none.
        d_embed: width of W_E and W_U, if not d_model.
        vocab_size: 0 for a stack without logits.
        n_head_matrices: d_model × d_embed matrices before W_U, such as BERT's.
    """

    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    n_matrices: int
    d_ff: int
    vocab_size: int
    n_head_matrices: int = 0
    n_experts: int = 1
    n_chosen: int = 1
    d_shared: int = 0
    d_embed: int | None = None

    @property
    def in_feed_forward(self) -> int:
        """Per token in one feed-forward layer, with its routers."""
        routers = (0 if self.n_experts == 1 else self.n_experts) + (self.d_shared > 0)
        return self.d_model * (self.n_matrices * (self.n_chosen * self.d_ff + self.d_shared) + routers)


def by_part(shape: Shape, *, new: int, length: int) -> dict[str, int]:
    """Multiplications to read the last `new` tokens of a text of `length` tokens.

    Masked products count, since they are computed too.
    """
    meetings = shape.n_layers * shape.n_heads * shape.d_head * new * length
    matrices = shape.n_head_matrices + (shape.d_embed is not None)
    head = (shape.d_embed or shape.d_model) * (shape.vocab_size + matrices * shape.d_model)
    return {
        "projections": new * shape.n_layers * 2 * shape.d_model * (shape.n_heads + shape.n_kv_heads) * shape.d_head,
        "scores": meetings,
        "values": meetings,
        "feed-forward": new * shape.n_layers * shape.in_feed_forward,
        "vocabulary": new * head,
    }


def crossing(shape: Shape, *, new: int, length: int) -> dict[str, int]:
    """The same for cross-attention: `new` queries meet `length` keys of the source."""
    meetings = shape.n_layers * shape.n_heads * shape.d_head * new * length
    width = shape.n_layers * shape.d_model * shape.d_head
    projections = 2 * width * (shape.n_heads * new + shape.n_kv_heads * length)
    return {"projections": projections, "scores": meetings, "values": meetings, "feed-forward": 0, "vocabulary": 0}


def multiplications(shape: Shape, *, new: int, length: int) -> int:
    return sum(by_part(shape, new=new, length=length).values())


def in_model(shapes: dict[str, Shape], *, source: int, target: int) -> dict[str, int]:
    """One forward pass of a model, by part.

    Args:
        shapes: of "encoder", "decoder" or both.
    """
    lengths = {"encoder": source, "decoder": target}
    counts = [by_part(shape, new=lengths[stack], length=lengths[stack]) for stack, shape in shapes.items()]
    if len(shapes) == 2:
        counts.append(crossing(shapes["decoder"], new=target, length=source))
    return {part: sum(count[part] for count in counts) for part in PARTS}


def overtakes(shape: Shape) -> float | None:
    """The length at which scores and values cost as much as the feed-forward layers; None: there are none.

    2 · n · n_heads · d_head = n_matrices · d_model · d_ff, for every token of every layer. In the 2017 shape that is
    n = d_ff.
    """
    feed_forward = shape.in_feed_forward
    return feed_forward / (2 * shape.n_heads * shape.d_head) if feed_forward else None
