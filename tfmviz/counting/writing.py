"""Sampling from an n-gram model, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.counting.smoothing import Counted, Smoothing, context_of
from tfmviz.counting.words import MARK

Array = np.ndarray

CLOSING = frozenset(".,;:!?)]}%…”")
OPENING = frozenset("([{“")


@dataclass(frozen=True, slots=True)
class Step:
    """A sampled word.

    Attributes:
        context: the words before; without smoothing, the longest suffix that occurred.
        word: its index.
        probability: P(word | context).
    """

    context: tuple[int, ...]
    word: int
    probability: float


def written(
    text: Counted, history: Sequence[int], smoothing: Smoothing, *, n: int, length: int, seed: int
) -> Iterator[Step]:
    """Draws `length` words. After the end of a sentence the context is empty again.

    Args:
        history: the words of the sentence so far, with the `MARK` before them.
    """
    draws = np.random.default_rng(seed).random(length)
    history = list(history)
    for draw in draws:
        context = context_of(history, n)
        if smoothing.method == "none":
            context = text.longest_known(context)
        p = text.distribution(context, smoothing, n=n)
        word = drawn(p, draw)
        yield Step(context, word, float(p[word]))
        history = [MARK] if word == MARK else [*history, word]


def drawn(p: Array, draw: float) -> int:
    """The word at a number in [0, 1), by inverse-transform sampling."""
    sums = np.cumsum(p)
    return int(np.searchsorted(sums, draw * sums[-1], side="right").clip(max=np.flatnonzero(p)[-1]))


def joined(names: Iterable[str]) -> str:
    """Words as running text: no space before a comma, a line break at the end of a sentence."""
    parts: list[str] = []
    for name in names:
        glued = not parts or parts[-1][-1] in OPENING or parts[-1] == "\n" or name in CLOSING or name == "\n"
        parts.append(name if glued else f" {name}")
    return "".join(parts)
