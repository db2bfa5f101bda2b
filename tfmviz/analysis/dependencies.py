"""Long dependencies: pairs of sentences that differ in one word, far back, on which the next word depends.

Agreement across other nouns, as in "The keys to the cabinet … are", is the test of Linzen et al. (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array

AGREEMENT, QUOTATION, NAME = "agreement", "quotation mark", "name"

ONE, MANY = (" is", " was"), (" are", " were")

CLOSING = ('"', '."', ',"', '!"', '?"', "”", ",”", "!”", "?”")
"""Tokens that close a quotation."""

NAMES = ("Tom", "Tim", "Lily", "Ben", "Max", "Sue", "Sam", "Ann", "Mary", "Bob", "Mia", "Sara", "Lucy", "Jack", "Amy")

NOUNS = (
    *(("key", "keys"), ("dog", "dogs"), ("boy", "boys"), ("girl", "girls"), ("man", "men"), ("woman", "women")),
    *(("friend", "friends"), ("child", "children"), ("book", "books"), ("letter", "letters"), ("tree", "trees")),
    *(("house", "houses"), ("box", "boxes"), ("car", "cars"), ("bird", "birds"), ("door", "doors")),
)

PLACES = ("in", "near", "behind", "under", "beside", "with", "by", "from")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that differ in the word that decides the next: `right` after the first, `wrong` after the second.

    Attributes:
        n: words between the deciding word and the next one.
        right, wrong: tokens that may come next; equal for a quotation mark, which should be more probable after the
            first text.
    """

    texts: tuple[str, str]
    n: int
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def pairs(kind: str, phrases: int, count: int, *, seed: int) -> list[Pair]:
    """Pairs with `phrases` phrases of three words, such as "in the garden", in between."""
    rng = np.random.default_rng((seed, list(MAKERS).index(kind), phrases))
    return [MAKERS[kind](rng, phrases) for _ in range(count)]


def _between(rng: np.random.Generator, phrases: int) -> str:
    words = []
    for _ in range(phrases):
        noun = NOUNS[rng.integers(len(NOUNS))][rng.integers(2)]
        words += [PLACES[rng.integers(len(PLACES))], "the", noun]
    return "".join(f" {word}" for word in words)


def _agreement(rng: np.random.Generator, phrases: int) -> Pair:
    one, many = NOUNS[rng.integers(len(NOUNS))]
    rest = _between(rng, phrases)
    return Pair((f"The {one}{rest}", f"The {many}{rest}"), 3 * phrases, ONE, MANY)


def _quotation(rng: np.random.Generator, phrases: int) -> Pair:
    who, rest = NAMES[rng.integers(len(NAMES))], _between(rng, phrases)
    sentence = f"saw the {NOUNS[rng.integers(len(NOUNS))][0]}{rest}"
    return Pair((f'{who} said, "We {sentence}', f"{who} said that we {sentence}"), 4 + 3 * phrases, CLOSING, CLOSING)


def _name(rng: np.random.Generator, phrases: int) -> Pair:
    first, second = rng.choice(len(NAMES), size=2, replace=False)
    rest = f' sat{_between(rng, phrases)}. "Yes," said'
    a, b = NAMES[first], NAMES[second]
    return Pair((f"{a}{rest}", f"{b}{rest}"), 3 + 3 * phrases, (f" {a}",), (f" {b}",))


MAKERS: Mapping[str, Callable[[np.random.Generator, int], Pair]] = {
    AGREEMENT: _agreement,
    QUOTATION: _quotation,
    NAME: _name,
}


def leans(pair: Pair, p: Sequence[Mapping[str, float]]) -> float:
    """1 if the first text favours the right continuation more than the second does, 0 if less, ½ if equally.

    A preference shared by both texts has no effect.

    Args:
        p: each token's probability after either text.
    """
    (right, wrong), (right_then, wrong_then) = _sums(pair, p)
    if pair.right == pair.wrong:
        return _point(right, right_then)
    return _point(right * wrong_then, right_then * wrong)


def prefers(pair: Pair, p: Sequence[Mapping[str, float]]) -> float:
    """Share of the two texts after which the right continuation is more probable."""
    (right, wrong), (right_then, wrong_then) = _sums(pair, p)
    return (_point(right, wrong) + _point(wrong_then, right_then)) / 2


def _sums(pair: Pair, p: Sequence[Mapping[str, float]]) -> list[list[float]]:
    return [[sum(one[token] for token in tokens) for tokens in (pair.right, pair.wrong)] for one in p]


def _point(more: float, less: float) -> float:
    """1 if the first is larger, 0 if the second is, ½ if they are equal."""
    if abs(more - less) <= 1e-5 * max(more, less):
        return 0.5
    return float(more > less)


def resampled(points: Array, draws: Array) -> Array:
    """Bootstrap shares of points: (pair,) and (draw, pair) to (draw,)."""
    return points[draws].mean(axis=1)
