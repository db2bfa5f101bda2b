"""The chain rule: the probability of a text as a product of one factor per word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.counting.smoothing import Counted, Smoothing, held_out
from tfmviz.counting.words import MARK, encoded, words_of

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Factor:
    """A piece of text, usually one word, between token boundaries of both models.

    Attributes:
        one, other: log P of it given all before it, in nats; NaN for 0/0.
        n_tokens: its length in tokens of the other model.
    """

    name: str
    one: float
    other: float
    n_tokens: int


def log_probabilities(text: Counted, sentences: Sequence[str], smoothing: Smoothing, *, n: int) -> Array:
    """log P(w | h) in nats for every word of the sentences, whose ends are given: (words,)."""
    p = held_out(text, sentences).probabilities(smoothing)[n - 1]
    with np.errstate(divide="ignore"):
        return np.log(p[encoded(sentences, text.numbers)[1:] != MARK])


def factors(text: str, one: Array, other: Array, ends: Sequence[int]) -> list[Factor]:
    """The factors of two models.

    Args:
        one: log P of every word of the text.
        other: log P of every token of the other model, perhaps only of a beginning.
        ends: the tokens' ends, in characters.
    """
    word_ends = [word.end for word in words_of(text)]
    token_ends = [len(text[:end].rstrip()) for end in ends]  # white space belongs to the word before it
    pieces = sorted(set(word_ends) & set(token_ends))
    if not pieces:
        return []
    in_one, in_other = np.searchsorted(pieces, word_ends), np.searchsorted(pieces, token_ends)
    sums = [np.bincount(i, p, len(pieces))[: len(pieces)] for i, p in ((in_one, one), (in_other, other))]
    n_tokens = np.bincount(in_other, minlength=len(pieces))
    names = [text[begin:end].strip() for begin, end in zip([0, *pieces], pieces, strict=False)]
    return [Factor(*row) for row in zip(names, *(s.tolist() for s in sums), n_tokens.tolist(), strict=False)]
