"""Keystrokes saved by a keyboard that suggests words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfmviz.constants import OFFERED
from tfmviz.record.trace import Array

WORD = re.compile(r"(?<= )[^\W\d_]+")
"""A word that a keyboard can offer: letters after a space."""

TYPED = re.compile(r"(?<= )[^\W\d_]*\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """Characters `start` to `end` of a text, of which `typed` letters are typed; a tap gives the rest."""

    start: int
    end: int
    typed: int

    @property
    def saved(self) -> int:
        """Keys saved; the tap itself is one."""
        rest = self.end - self.start - self.typed
        return rest - 1 if rest else 0


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Words:
    """Distinct words that can be offered."""

    names: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def letters(self) -> Array:
        """(word, letter): code points, 0 after the end."""
        return np.array(self.names).view(np.uint32).reshape(len(self.names), -1)


def begun(text: str) -> int:
    """The start of the word being typed; the text's length after a space."""
    found = TYPED.search(text)
    return found.start() if found else len(text)


def offers(scores: Array, words: Words, begins: str) -> list[int]:
    """Indices of the `OFFERED` best-scored words that begin with `begins`."""
    order = np.argsort(-scores, kind="stable").tolist()
    return [at for at in order if words.names[at].startswith(begins)][:OFFERED]


def letters_needed(scores: Array, words: Words, word: str, *, n: int = OFFERED) -> int:
    """Letters of a word to type before it is offered, or all of them.

    Args:
        scores: (word,), higher ones are offered first; ties by index.
    """
    if (at := words.places.get(word)) is None:
        return len(word)
    better = (scores > scores[at]) | ((scores == scores[at]) & (np.arange(len(scores)) < at))
    if better.sum() < n:
        return 0
    alike = words.letters[better, : len(word)] == words.letters[at, : len(word)]
    shared = alike.cumprod(axis=1).sum(axis=1)  # length of the common prefix with each better word
    return min(int(np.partition(shared, -n)[-n]) + 1, len(word))


def taken(word: re.Match[str], scores: Array, words: Words) -> Word:
    """A word typed until a tap saves a key."""
    needed = letters_needed(scores, words, word[0])
    length = len(word[0])
    return Word(*word.span(), needed if length - needed > 1 else length)
