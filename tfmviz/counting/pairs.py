"""How often words and pairs of neighbouring words occur in a text, as keyboards of phones once counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s]|\n")
"""A word in its own spelling, a number, a mark, or the end of a line."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Counts of a text.

    Attributes:
        numbers: the number of each word.
        counts: (word,), how often each occurs.
        keys, together: (pair,), first · words + second, sorted; and how often the second follows the first.
    """

    numbers: dict[str, int]
    counts: Array
    keys: Array
    together: Array

    def known(self, words: Sequence[str]) -> Array:
        """The numbers of words, -1 for one that the text lacks: (word,)."""
        return np.array([self.numbers.get(word, -1) for word in words], dtype=np.int64)

    def scores(self, before: str, known: Array) -> Array:
        """What orders words after another: how often they followed it, and among equals how often they occur.

        Args:
            known: (word,), their numbers.
        """
        first, size = self.numbers.get(before), len(self.numbers)
        found = self.counts / (1 + self.counts.sum())  # below 1
        if first is not None:
            begin, end = np.searchsorted(self.keys, [first * size, (first + 1) * size])
            found[self.keys[begin:end] - first * size] += self.together[begin:end]
        return np.where(known >= 0, found[known], 0)


def counted(text: str) -> Pairs:
    """Counts a text that holds at least two words; a pair does not reach over the end of a line."""
    found = WORD.findall(text)
    numbers: dict[str, int] = {}
    stream = np.array([numbers.setdefault(word, len(numbers)) for word in found], dtype=np.int64)
    is_end = stream == numbers.get("\n", -1)
    pairs = (stream[:-1] * len(numbers) + stream[1:])[~(is_end[:-1] | is_end[1:])]
    keys, together = np.unique(pairs, return_counts=True)
    return Pairs(numbers, np.bincount(stream), keys, together)
