"""Words and pairs of words, against counting by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from tfmviz.counting import pairs

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


@pytest.mark.parametrize(("text", "word"), [("", ""), ("  ", ""), ("don't ", "don't"), ("a, ", ","), ("😀", "😀")])
def test_the_last_word_of_a_text(text: str, word: str) -> None:
    assert pairs.last(text) == word
