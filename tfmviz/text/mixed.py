"""Texts in one of two languages, or switching between them, made from the sentences of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from tfmviz.record.trace import Array

Texts = Literal["single", "mixed"]
"""One language per text, or one drawn for each sentence."""

Part = tuple[int, str]
"""A language's column, and words in it."""

CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper)
"""Unchanged, lower case, capitals."""

SHARE_OF_CASES = (0.8, 0.15, 0.05)


def drawn(columns: Sequence[Sequence[str]], rng: np.random.Generator, *, texts: Texts, n_words: int) -> list[Part]:
    """Draws sentences until there are `n_words` words. Half are cut to a random run of their words."""
    write = CASES[rng.choice(len(CASES), p=SHARE_OF_CASES)]
    language = int(rng.integers(len(columns)))
    parts: list[Part] = []
    while n_words > 0:
        sentence = columns[language][int(rng.integers(len(columns[language])))].split()
        if rng.random() < 0.5:
            first = int(rng.integers(len(sentence)))
            sentence = sentence[first : int(rng.integers(first, len(sentence))) + 1]
        parts.append((language, write(" ".join(sentence))))
        n_words -= len(sentence)
        language = int(rng.integers(len(columns))) if texts == "mixed" else language
    return parts


def joined_parts(parts: Sequence[Part]) -> str:
    return " ".join(words for _, words in parts)


def languages_of(parts: Sequence[Part], sizes: Array) -> Array:
    """The language of every token, that of the part with its last byte: (len,), int64.

    Args:
        sizes: (len,), bytes of each token.
    """
    ends = np.cumsum([len(words.encode()) + 1 for _, words in parts]) - 1  # without the following space
    languages = np.array([language for language, _ in parts])
    return languages[np.searchsorted(ends, np.cumsum(sizes))]
