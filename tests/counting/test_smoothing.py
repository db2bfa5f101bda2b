"""Smoothing: formulas written out with dictionaries, probabilities that sum to 1, and perplexity."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

from tests.cases import each
from tests.counting.texts import SMOOTHINGS, sentences
from tfmviz.counting.smoothing import LONGEST, Smoothing, context_of, counted, held_out
from tfmviz.counting.words import MARK, UNKNOWN, encoded, words_of

LINES = sentences(41, seed=1)
TEXT = counted(LINES)
OTHERS = [*sentences(11, seed=2), "The mouse, the cat!"]

CONTEXTS = (
    (),
    (MARK,),
    (UNKNOWN,),
    *(tuple(TEXT.stream[i : i + k].tolist()) for i in (1, 5, 23) for k in (1, 2, 3, 4)),
    (3, 3, 3, 3),
    (UNKNOWN, 2),
)


def tally() -> Counter[tuple[str, ...]]:
    """All n-grams within the sentences, by their words."""
    found: Counter[tuple[str, ...]] = Counter()
    for line in LINES:
        framed = ["⟨s⟩", *(word.name for word in words_of(line)), "⟨s⟩"]
        for n in range(2, LONGEST + 1):
            found.update(tuple(framed[i : i + n]) for i in range(len(framed) - n + 1))
        found.update((word,) for word in framed[1:])
    return found


GRAMS = tally()


def by_formula(context: tuple[str, ...], word: str, smoothing: Smoothing) -> float:
    """P(word | context) for the methods that have a formula of one line; Kneser-Ney has tests of its own."""
    names = TEXT.vocabulary
    count, total = GRAMS[(*context, word)], sum(GRAMS[(*context, name)] for name in names)
    match smoothing.method:
        case "none":
            return count / total if total else math.nan
        case "add-δ":
            return (count + smoothing.delta) / (total + smoothing.delta * len(names))
        case "back-off":
            return count / total if total else by_formula(context[1:], word, smoothing)
    shorter = by_formula(context[1:], word, smoothing) if context else 1 / len(names)
    return smoothing.share * count / total + (1 - smoothing.share) * shorter if total else shorter


@each("smoothing", SMOOTHINGS[:-1])
def test_probabilities_are_those_of_the_formula(smoothing: Smoothing) -> None:
    names = TEXT.vocabulary
    for context in CONTEXTS:
        expected = [by_formula(tuple(names[word] for word in context), name, smoothing) for name in names]
        np.testing.assert_allclose(TEXT.distribution(context, smoothing, n=LONGEST), expected, rtol=1e-12)


@each("smoothing, n, context", product(SMOOTHINGS, range(1, LONGEST + 1), CONTEXTS))
def test_probabilities_sum_to_one(context: tuple[int, ...], smoothing: Smoothing, n: int) -> None:
    p = TEXT.distribution(context, smoothing, n=n)
    if smoothing.method == "none" and not TEXT.after(context_of(context, n)).any():
        assert np.isnan(p).all()
        return
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert (p >= 0).all() if smoothing.method in ("none", "back-off") else (p > 0).all()


@each("smoothing, n", product(SMOOTHINGS, range(1, LONGEST + 1)))
def test_only_the_last_words_count(smoothing: Smoothing, n: int) -> None:
    p, same = (TEXT.distribution((w, *TEXT.stream[1:5].tolist()), smoothing, n=n) for w in (UNKNOWN, 2))
    np.testing.assert_array_equal(p, same)


@each("smoothing", SMOOTHINGS)
def test_along_a_text_every_word_has_the_probability_that_its_context_gives_it(smoothing: Smoothing) -> None:
    measured = held_out(TEXT, OTHERS)
    p = measured.probabilities(smoothing)
    stream = encoded(OTHERS, TEXT.numbers).tolist()
    for n in range(1, LONGEST + 1):
        history: list[int] = []
        for place, word in enumerate(stream):
            if place:
                expected = TEXT.distribution(history, smoothing, n=n)[word]
                np.testing.assert_allclose(p[n - 1, place - 1], expected, rtol=1e-12)
            history = [MARK] if word == MARK else [*history, word]
    losses = -np.log(np.maximum(np.nan_to_num(p), 1e-300))
    finite = np.exp(losses.mean(axis=1))
    impossible = (np.nan_to_num(p) == 0).any(axis=1)
    np.testing.assert_allclose(measured.perplexity(smoothing), np.where(impossible, np.inf, finite), rtol=1e-9)


def test_the_share_never_seen_is_that_of_a_set_and_a_huge_delta_makes_all_uniform() -> None:
    shares = held_out(TEXT, OTHERS).never_seen()
    for n in range(1, LONGEST + 1):
        found = []
        for line in OTHERS:
            framed = ["⟨s⟩", *(word.name for word in words_of(line)), "⟨s⟩"]
            found += [tuple(framed[i : i + n]) for i in range(1 if n == 1 else 0, len(framed) - n + 1)]
        assert shares[n - 1] == pytest.approx(np.mean([gram not in GRAMS for gram in found]))
    uniform = held_out(TEXT, OTHERS).perplexity(Smoothing("add-δ", delta=1e12))
    np.testing.assert_allclose(uniform, TEXT.vocab_size, rtol=1e-6)


def test_occurrences_are_where_the_words_stand() -> None:
    words = (TEXT.numbers["the"], TEXT.numbers["cat"])
    places = TEXT.occurrences(words, 10**6)
    assert len(places) == GRAMS[("the", "cat")]
    assert all(tuple(TEXT.stream[place : place + 2]) == words for place in places)
    assert TEXT.occurrences(words, 3).tolist() == places[:3].tolist()
    assert TEXT.occurrences((UNKNOWN,) * 9999, 3).tolist() == []


@each("lines", [["a"], ["?"], ["word " * 999], ["老王", "😀"]])
def test_texts_with_few_words_are_counted_too(lines: list[str]) -> None:
    text = counted(lines)
    for smoothing, n in product(SMOOTHINGS[1:], range(1, LONGEST + 1)):
        assert text.distribution((MARK, 2, UNKNOWN), smoothing, n=n).sum() == pytest.approx(1)
