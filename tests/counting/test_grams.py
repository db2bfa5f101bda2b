"""Counts of words, pairs and n-grams, against counting by hand."""

from collections import Counter
from itertools import pairwise

import numpy as np

from tests.cases import each
from tfmviz.analysis.keyboard import WORD, Words
from tfmviz.counting import pairs
from tfmviz.counting.grams import after, along, count
from tfmviz.counting.words import MARK
from tfmviz.ui.writing import keyboard

VOCAB, LONGEST = 7, 5

rng = np.random.default_rng(3)
SENTENCES = [[int(w) for w in rng.integers(1, VOCAB - 1, rng.integers(1, 11))] for _ in range(53)]
OTHERS = [[int(w) for w in rng.integers(1, VOCAB, rng.integers(1, 11))] for _ in range(13)]


def stream(sentences: list[list[int]]) -> np.ndarray:
    return np.array([MARK, *(w for sentence in sentences for w in (*sentence, MARK))], dtype=np.int32)


def by_counter(n: int) -> Counter[tuple[int, ...]]:
    """Grams of n tokens, counted in each sentence between its two marks; of one token, only the mark at its end."""
    framed = [[*([MARK] if n > 1 else []), *sentence, MARK] for sentence in SENTENCES]
    return Counter(tuple(s[i : i + n]) for s in framed for i in range(len(s) - n + 1))


GRAMS = count(stream(SENTENCES), vocab_size=VOCAB, n=LONGEST, mark=MARK)


@each("n", range(1, LONGEST + 1))
def test_counts_are_those_of_a_counter_and_no_gram_joins_two_sentences(n: int) -> None:
    spelled: list[tuple[int, ...]] = [()]
    for order in GRAMS[:n]:
        spelled = [(*spelled[key // VOCAB], int(key % VOCAB)) for key in order.keys]
    assert dict(zip(spelled, GRAMS[n - 1].counts.tolist(), strict=True)) == by_counter(n)
    grams = by_counter(n)
    for context in {gram[:-1] for gram in grams} | {(VOCAB - 1,) * (n - 1), (1, MARK, 1, 1)[: n - 1]}:
        assert after(GRAMS, context, vocab_size=VOCAB).tolist() == [grams[(*context, w)] for w in range(VOCAB)]


def test_without_a_mark_grams_run_through_the_whole_text() -> None:
    text = stream(SENTENCES)
    expected = Counter(tuple(text[i : i + 3].tolist()) for i in range(len(text) - 2))
    assert sorted(count(text, vocab_size=VOCAB, n=3)[2].counts.tolist()) == sorted(expected.values())


def test_counts_along_another_text_stop_at_the_start_of_the_sentence() -> None:
    counts, totals, full = along(GRAMS, stream(OTHERS), vocab_size=VOCAB, mark=MARK)
    grams = [by_counter(n) for n in range(1, LONGEST + 1)]
    place = 0
    for sentence in OTHERS:
        framed = [MARK, *sentence, MARK]
        for i in range(1, len(framed)):
            for n in range(1, LONGEST + 1):
                context = tuple(framed[max(i - n + 1, 0) : i])
                own = grams[len(context)]
                assert counts[n - 1, place] == own[(*context, framed[i])]
                assert totals[n - 1, place] == sum(own[(*context, w)] for w in range(VOCAB))
                assert full[n - 1, place] == (len(context) == n - 1)
            place += 1
    assert place == counts.shape[1]


@each("length", [0, 1, 2, 3])
def test_short_texts_are_counted_too(length: int) -> None:
    text = np.array([MARK, 3, MARK][:length], dtype=np.int32)
    grams = count(text, vocab_size=VOCAB, n=LONGEST, mark=MARK)
    predicted = max(length - 1, 0)  # nothing stands before the first mark
    assert [int(order.counts.sum()) for order in grams] == [predicted, *(max(length - n, 0) for n in range(1, LONGEST))]


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
