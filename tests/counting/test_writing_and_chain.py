"""Writing with counts, and the chain rule."""

import math

import numpy as np
import pytest

from tests.cases import each
from tests.counting.texts import SMOOTHINGS, sentences
from tfmviz.counting.chain import factors, log_probabilities
from tfmviz.counting.smoothing import Smoothing, counted
from tfmviz.counting.words import MARK, encoded, words_of
from tfmviz.counting.writing import drawn, joined, written

TEXT = counted(sentences(41, seed=1))


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


def test_a_character_in_several_tokens_is_one_piece() -> None:
    (piece,) = factors("中", np.array([-1.0]), np.array([-1.0, -2.0, -3.0]), [1, 1, 1])
    assert (piece.other, piece.n_tokens) == (-6.0, 3)
