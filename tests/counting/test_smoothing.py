"""Smoothing: formulas written out with dictionaries, sums of 1, and perplexity; writing with counts, the chain rule."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

from tests.cases import each
from tfmviz.counting.chain import factors, log_probabilities
from tfmviz.counting.smoothing import LONGEST, Smoothing, context_of, counted, held_out
from tfmviz.counting.words import MARK, UNKNOWN, encoded, words_of
from tfmviz.counting.writing import drawn, joined, written

WORDS = ("the", "cat", "saw", "a", "dog", "and", "ran")

SMOOTHINGS = (
    Smoothing("none"),
    Smoothing("add-δ", delta=0.03),
    Smoothing("back-off"),
    Smoothing("interpolation", share=0.7),
    Smoothing("Kneser–Ney"),
)


def sentences(count: int, *, seed: int) -> list[str]:
    """Each word prefers a few successors, so that contexts repeat and others never occur."""
    rng = np.random.default_rng(seed)
    habits = np.random.default_rng(1).dirichlet(np.full(len(WORDS), 0.3), size=len(WORDS))
    lines = []
    for _ in range(count):
        words = [int(rng.integers(len(WORDS)))]
        for _ in range(int(rng.integers(1, 9))):
            words.append(int(rng.choice(len(WORDS), p=habits[words[-1]])))
        lines.append(" ".join(WORDS[w] for w in words) + ".")
    return lines


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


@each("smoothing", SMOOTHINGS)
def test_every_step_says_what_it_was_drawn_from(smoothing: Smoothing) -> None:
    history = [MARK, 2]
    for step in written(TEXT, history, smoothing, n=3, length=50, seed=4):
        expected = tuple(history[-2:])
        shorter = [expected[i:] for i in range(3)]
        assert step.context == expected or (smoothing.method == "none" and step.context in shorter)
        assert step.probability == TEXT.distribution(step.context, smoothing, n=3)[step.word] > 0
        history = [MARK] if step.word == MARK else [*history, step.word]


def test_without_smoothing_all_that_is_written_stands_in_the_text_and_the_seed_decides_it() -> None:
    steps = list(written(TEXT, [MARK], Smoothing("none"), n=3, length=60, seed=1))
    assert all(len(TEXT.occurrences((*step.context, step.word), 1)) for step in steps)

    def words(seed: int) -> list[int]:
        return [step.word for step in written(TEXT, [MARK], SMOOTHINGS[-1], n=2, length=40, seed=seed)]

    assert words(1) == words(1) != words(2)


def test_words_are_drawn_as_often_as_they_are_probable_and_joined_as_people_write() -> None:
    p = np.array([0.0, 0.5, 0.0, 0.2, 0.3, 0.0])
    draws = [drawn(p, draw) for draw in (np.arange(1000) + 0.5) / 1000]
    assert np.bincount(draws, minlength=6).tolist() == [0, 500, 0, 200, 300, 0]
    assert (drawn(p, 0.0), drawn(p, np.nextafter(1.0, 0.0))) == (1, 4)
    assert joined(["he", "said", ",", "go", "!", "\n", "(", "yes", ")", "."]) == "he said, go!\n(yes)."


@each("smoothing", SMOOTHINGS[1:])
def test_the_factors_multiply_to_the_probability_of_the_sentence(smoothing: Smoothing) -> None:
    text = "The dog saw the cat, and the cat ran"
    stream = encoded([text], TEXT.numbers).tolist()[:-1]
    product = math.prod(TEXT.distribution(stream[:i], smoothing, n=3)[stream[i]] for i in range(1, len(stream)))
    logs = log_probabilities(TEXT, [text], smoothing, n=3)
    ends = [word.end for word in words_of(text)]
    found = factors(text, logs, np.zeros(len(ends)), ends)
    assert [factor.name for factor in found] == ["The", "dog", "saw", "the", "cat", ",", "and", "the", "cat", "ran"]
    assert math.exp(math.fsum(factor.one for factor in found)) == pytest.approx(product, rel=1e-12)


def test_where_sentences_end_is_given() -> None:
    both, *alone = (
        log_probabilities(TEXT, lines, SMOOTHINGS[-1], n=3)
        for lines in (["The cat ran.", "A dog saw."], ["The cat ran."], ["A dog saw."])
    )
    np.testing.assert_allclose(both, np.concatenate(alone), rtol=1e-12)


@each(
    "text, tokens, pieces",
    [
        ("I don't know", ["I", " don", "'t", " know"], [("I", 1), ("don't", 2), ("know", 1)]),
        ('Go." Yes', ["Go", '."', " Yes"], [("Go", 1), ('."', 1), ("Yes", 1)]),
        ("a  b ", ["a", " ", " b", " "], [("a", 2), ("b", 2)]),
        ("a b c", ["a", " b"], [("a", 1), ("b", 1)]),
        (" x", [" ", "x"], [("x", 2)]),
        ("ab", ["a"], []),
        ("中", ["中", "", ""], [("中", 3)]),  # a character in several tokens
    ],
)
def test_pieces_end_where_both_models_have_an_end(text: str, tokens: list[str], pieces: list[tuple[str, int]]) -> None:
    ends = np.cumsum([len(token) for token in tokens]).tolist()
    one, other = np.arange(1.0, 1 + len(words_of(text))), np.arange(1.0, 1 + len(tokens))
    found = factors(text, one, other, ends)
    assert [(factor.name, factor.n_tokens) for factor in found] == pieces
    if pieces and ends[-1] == len(text):
        assert sum(factor.one for factor in found) == one.sum()
        assert sum(factor.other for factor in found) == other.sum()
