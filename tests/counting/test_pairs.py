"""Words and pairs of words, against counting by hand."""

from collections import Counter
from itertools import pairwise

import numpy as np

from tests.cases import each
from tfmviz.analysis.keyboard import WORD, Words
from tfmviz.counting import pairs
from tfmviz.ui.writing import keyboard

TEXT = "The dog saw the cat. The dog ran.\nThe cat saw a dog"


def test_words_are_ordered_by_what_they_followed_then_by_how_often_they_occur() -> None:
    found = pairs.counted(TEXT)
    lines = [line.replace(".", " .").split() for line in TEXT.split("\n")]
    followed = Counter(pair for line in lines for pair in pairwise(line))
    alone = Counter(word for line in lines for word in line)
    words = ["dog", "cat", "saw", "a", "elephant"]
    for before in ("The", "dog", ".", "cat", "elephant", ""):
        scores = found.scores(before, found.known(words))
        expected = [(followed[before, word], alone[word]) for word in words]
        assert np.floor(scores).tolist() == [together for together, _ in expected]
        order = np.argsort(-scores, kind="stable").tolist()
        assert order == sorted(range(len(words)), key=lambda at: (*(-part for part in expected[at]), at))


def test_a_pair_ends_with_the_line() -> None:
    found = pairs.counted("a b\nc d")
    assert found.scores("b", found.known(["c", "\n"])).max() < 1


@each("text", ["", "  a", "don't go", "a, b c", "😀 no", "one two  two one two"])
def test_the_word_before_a_place_orders_the_words_there(text: str) -> None:
    found = keyboard.Dictionary(Words(("the", "a", "was")), np.arange(3))
    scores, counts = keyboard.by_pairs(text, found), keyboard.text_counted()
    for word in WORD.finditer(text):
        before = pairs.WORD.findall(text[: word.start()])
        expected = counts.scores(before[-1] if before else "", counts.known(found.words.names))
        np.testing.assert_array_equal(scores(word.start()), expected)
