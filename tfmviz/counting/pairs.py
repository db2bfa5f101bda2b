"""Counts of words and of pairs of neighbouring words, from which phone keyboards once predicted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s]|\n")
"""A word, a number, a punctuation mark, or a line break."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Counts of a text.

    Attributes:
        numbers: the index of each word.
        counts: (word,).
        keys, together: (pair,), first · words + second, sorted, and their counts.
    """

    numbers: dict[str, int]
    counts: Array
    keys: Array
    together: Array

    def known(self, words: Sequence[str]) -> Array:
        """The indices of words, -1 for unknown ones: (word,)."""
        return np.array([self.numbers.get(word, -1) for word in words], dtype=np.int64)

    def scores(self, before: str, known: Array) -> Array:
        """Scores that rank the words `known`, (word,), after `before`: by pairs, ties by frequency."""
        first, size = self.numbers.get(before), len(self.numbers)
        found = self.counts / (1 + self.counts.sum())  # below 1
        if first is not None:
            begin, end = np.searchsorted(self.keys, [first * size, (first + 1) * size])
            found[self.keys[begin:end] - first * size] += self.together[begin:end]
        return np.where(known >= 0, found[known], 0)


def counted(text: str) -> Pairs:
    """Counts a text of at least two words; no pair spans a line break."""
    found = WORD.findall(text)
    numbers: dict[str, int] = {}
    stream = np.array([numbers.setdefault(word, len(numbers)) for word in found], dtype=np.int64)
    is_end = stream == numbers.get("\n", -1)
    pairs = (stream[:-1] * len(numbers) + stream[1:])[~(is_end[:-1] | is_end[1:])]
    keys, together = np.unique(pairs, return_counts=True)
    return Pairs(numbers, np.bincount(stream), keys, together)
