"""A keyboard's offers, against typing letter by letter."""

import numpy as np

from tests.cases import each
from tfmviz.analysis import keyboard
from tfmviz.analysis.keyboard import Word, Words

WORDS = ("the", "then", "there", "they", "door", "dog", "doll", "a", "an", "and", "saw", "big")

ALL = Words(WORDS)


def typed_by_hand(scores: np.ndarray, word: str, n: int) -> int:
    """Types a letter, looks at the n best words, and so on."""
    for typed in range(len(word)):
        left = [(-score, at) for at, score in enumerate(scores) if WORDS[at][:typed] == word[:typed]]
        if word in [WORDS[at] for _, at in sorted(left)[:n]]:
            return typed
    return len(word)


@each("n", [1, 2, 3])
def test_a_word_is_offered_after_as_many_letters_as_by_hand(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(50):
        scores = rng.integers(0, 6, len(WORDS)).astype(float)  # with ties
        for word in (*WORDS, "doorway", "x"):
            assert keyboard.letters_needed(scores, ALL, word, n=n) == typed_by_hand(scores, word, n)


def test_offers_begin_with_what_is_typed() -> None:
    scores = np.arange(len(WORDS), dtype=float)
    assert [WORDS[at] for at in keyboard.offers(scores, ALL, "th")] == ["they", "there", "then"]
    assert [WORDS[at] for at in keyboard.offers(scores, ALL, "")] == ["big", "saw", "and"]
    assert keyboard.offers(scores, ALL, "q") == []
    begins = {"": 0, "The": 3, "The ": 4, "The d": 4, "The do,": 7, "a  b": 3, "1 2": 3}
    assert {text: keyboard.begun(text) for text in begins} == begins


def test_a_tap_that_saves_nothing_is_not_made() -> None:
    (found,) = keyboard.WORD.finditer("x an")
    scores = np.zeros(len(WORDS))
    scores[WORDS.index("an")] = 1
    assert keyboard.taken(found, scores, ALL) == Word(2, 4, 0)
    assert Word(2, 4, 0).saved == 1
    scores[:] = 1
    scores[WORDS.index("an")] = 0  # three words and more come first until "an" is typed, or all but one letter
    assert keyboard.taken(found, scores, ALL).saved == 0
