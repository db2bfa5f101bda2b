"""Reversible layers: a block's input is recomputed from its output, so nothing is stored for the backward pass.

A block computes y_1 = x_1 + f(x_2) and y_2 = x_2 + g(y_1) on two halves of the stream, so x_2 = y_2 − g(y_1) and x_1 =
y_1 − f(x_2) (Gomez et al. 2017; in Reformer f is attention and g the feed-forward layer, Kitaev et al. 2020, section
3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfmviz.record.trace import Array

Block = tuple[Callable[[Array], Array], Callable[[Array], Array]]
"""f and g."""


def forward(x_1: Array, x_2: Array, blocks: Sequence[Block]) -> tuple[Array, Array]:
    """Both halves after all blocks: (len, d) each."""
    for f, g in blocks:
        x_1 = x_1 + f(x_2)
        x_2 = x_2 + g(x_1)
    return x_1, x_2


def backward(y_1: Array, y_2: Array, blocks: Sequence[Block]) -> tuple[Array, Array]:
    """Both halves before all blocks, at the cost of one more run of each function."""
    for f, g in reversed(blocks):
        y_2 = y_2 - g(y_1)
        y_1 = y_1 - f(y_2)
    return y_1, y_2


def kept(n: int, d: int, depth: int, *, reversible: bool) -> int:
    """Stored values of the stream: the inputs of all 2 · depth functions, or one pair of halves.

    Values inside the functions come on top, in a reversible stack those of one function.
    """
    return 2 * n * d if reversible else 2 * depth * n * d
