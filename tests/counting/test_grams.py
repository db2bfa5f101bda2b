"""Counts of words, pairs and n-grams against counting by hand; the model without its rare grams, and its file."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tfmviz.analysis.keyboard import WORD, Words
from tfmviz.counting import grams, kneser_ney, pairs, pruned
from tfmviz.counting.grams import after, along, count
from tfmviz.counting.kneser_ney import NGramModel
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


V = 7
STREAM = np.random.default_rng(0).choice(V, size=400, p=[0.3, 0.25, 0.2, 0.1, 0.08, 0.04, 0.03])
LEAST = (1, 2, 3)


def both() -> tuple[NGramModel, NGramModel]:
    """The whole model of 3-grams, and the pruned one."""
    counted = grams.count(STREAM, vocab_size=V, n=3)
    whole = kneser_ney.smoothed(counted, vocab_size=V)[-1]
    return whole, pruned.pruned(whole, counted, least=LEAST)


def occurrences(*gram: int) -> int:
    return sum(tuple(STREAM[i : i + len(gram)]) == gram for i in range(len(STREAM) - len(gram) + 1))


def test_a_gram_stays_if_it_and_its_context_occur_often_enough() -> None:
    _, small = both()
    contexts = [()]
    for least, order in zip(LEAST, small.orders, strict=True):
        kept = [(*contexts[key // V], int(key % V)) for key in order.keys]
        frequent = {(*c, w) for c in contexts for w in range(V) if occurrences(*c, w) >= least}
        assert set(kept) == frequent
        assert len(kept) == len(frequent)
        contexts = kept


def test_what_stays_keeps_its_share_and_the_rest_goes_to_the_shorter_context() -> None:
    whole, small = both()
    for context in [(0, 1), (1, 0), (2, 2)]:
        assert occurrences(*context) >= 2
        shorter, p = small.distribution(context[1:]), small.distribution(context)
        number = grams.context_number([order.keys for order in whole.orders], context, vocab_size=whole.vocab_size)
        freed = float(whole.orders[2].back_off[number])  # γ(h): what the discounts leave
        share = whole.distribution(context) - freed * whole.distribution(context[1:])
        stays = np.array([occurrences(*context, w) >= LEAST[2] for w in range(V)])
        left = 1 - share[stays].sum()
        np.testing.assert_allclose(p, np.where(stays, share, 0) + left * shorter, rtol=1e-9)


def test_a_file_holds_the_model_up_to_half_precision(tmp_path: Path) -> None:
    _, small = both()
    pruned.save(tmp_path / "3-gram.npz", small)
    read = pruned.load(tmp_path / "3-gram.npz")
    assert pruned.n_numbers(read) == pruned.n_numbers(small)
    for context in [(), (0,), (3,), (6,), (0, 1), (6, 6), (3, 2), (5, 4)]:
        p, whole = read.distribution(context), small.distribution(context)
        np.testing.assert_allclose(p, whole, rtol=1e-2)
        assert (p.sum(), whole.sum()) == (pytest.approx(1), pytest.approx(1))
        assert min(p.min(), whole.min()) > 0


def test_shares_are_never_rounded_up() -> None:
    shares = np.random.default_rng(1).random(1000)
    halves = pruned.rounded_down(shares)
    assert halves.dtype == np.float16
    assert (halves <= shares).all()
    np.testing.assert_allclose(halves, shares, rtol=2e-3, atol=1e-7)


def test_after_several_texts_at_once_is_the_same_as_one_by_one() -> None:
    _, small = both()
    texts = STREAM[:15].reshape(3, 5)
    for text, p in zip(texts, pruned.after(small, texts), strict=True):
        np.testing.assert_array_equal(p, small.distribution(text[-2:].tolist()))
        assert p[3] == pytest.approx(small.probabilities(np.array([*text, 3]))[-1])
