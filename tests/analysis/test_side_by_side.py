"""Tokens of two texts in pairs, and what has changed between them, against slow and plain computations."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from tests.cases import each
from tests.traces import causal, encoding, pattern
from tfmviz.analysis.side_by_side import difference, distances, pair, pair_tokens
from tfmviz.record.trace import Encoding

TEXTS = [("", ""), ("", "ab"), ("abc", "abc"), ("abc", "axbc"), ("axbc", "abc"), ("abcd", "dabc")]
TEXTS += [("aabbaab", "abababa"), ("the cat sat", "the dog sat on the mat"), ("👩‍👧a", "a👩‍👧")]


def longest(a: str, b: str) -> int:
    @cache
    def of(n: int, m: int) -> int:
        if n == len(a) or m == len(b):
            return 0
        both = 1 + of(n + 1, m + 1) if a[n] == b[m] else 0
        return max(both, of(n + 1, m), of(n, m + 1))

    return of(0, 0)


RANDOM = np.random.default_rng(5)
DRAWN = [["".join(RANDOM.choice(list("abcd"), RANDOM.integers(0, 14))) for _ in "ab"] for _ in range(60)]


@each("a, b", [*TEXTS, *DRAWN])
def test_equal_tokens_are_paired_along_a_longest_common_subsequence_and_then_anywhere(a: str, b: str) -> None:
    found = pair(a, b)
    assert all(a[n] == b[m] for n, m in found.pairs)
    in_a, in_b = ([n for place in found.order if (n := place[side]) is not None] for side in (0, 1))
    assert in_a == list(range(len(a)))  # A is read as it is
    assert sorted(in_b) == list(range(len(b)))  # every token once
    assert len(found.pairs) == sum((Counter(a) & Counter(b)).values())  # nothing that both have is left over
    assert rising([m for _, m in found.pairs]) >= longest(a, b)


def rising(numbers: list[int]) -> int:
    best: list[int] = []
    for n, number in enumerate(numbers):
        best.append(1 + max((best[m] for m in range(n) if numbers[m] < number), default=0))
    return max(best, default=0)


def test_long_texts_are_paired_in_linear_work() -> None:
    """What lies between a common beginning and end is too much here for a subsequence, not for the rest."""
    middle = [f"w{n}" for n in range(20_000)]
    found = pair(["x", *middle, "y"], ["x", *reversed(middle), "y"])
    assert len(found.order) == 20_002
    assert [found.pairs[n] for n in (0, 1, -1)] == [(0, 0), (1, 20_000), (20_001, 20_001)]
    assert len(pair(["x"] * 20_000, ["x"] * 19_999).pairs) == 19_999
    assert len(pair(middle, [f"v{n}" for n in range(20_000)]).order) == 40_000
    words = [f"w{n}" for n in range(200)]
    assert pair(words, words).pairs == [(n, n) for n in range(200)]
    assert pair_tokens(encoding(["bank", " of", " "]), encoding([" ", " bank"])).pairs == [(0, 1), (2, 0)]


def test_two_tokenizers_share_the_tokens_that_cover_the_same_characters() -> None:
    a = Encoding(text="unsaid", ids=(0, 1), tokens=("un", "said"), offsets=((0, 2), (2, 6)))
    b = Encoding(text="unsaid", ids=(0, 1, 2), tokens=("un", "sa", "id"), offsets=((0, 2), (2, 4), (4, 6)))
    assert pair_tokens(a, b).pairs == [(0, 0)]
    assert len(pair_tokens(a, b).order) == 4


def test_distances_are_total_variation_with_one_share_for_what_has_no_partner() -> None:
    a, b = list("thecat"), list("cathen")
    before, after = pattern(3, causal(6), seed=1), pattern(3, causal(6), seed=2)
    both = pair(a, b)
    found = distances(before, after, both, both)
    for head in range(3):
        for place, (n, m) in enumerate(both.pairs):
            shares = [(before[head, n, i], after[head, m, j]) for i, j in both.pairs]
            shares.append((1 - sum(p for p, _ in shares), 1 - sum(q for _, q in shares)))
            assert found[head, place] == pytest.approx(sum(abs(p - q) for p, q in shares) / 2, abs=1e-6)
    assert (distances(before, before, pair(a, a), pair(a, a)) == 0).all()
    assert distances(before, after, pair(a, "xyz"), both).shape == (3, 0)


@each("a, b", TEXTS)
def test_places_are_the_same_for_paired_tokens_and_for_no_others(a: str, b: str) -> None:
    pairing = pair(a, b)
    in_a, in_b = pairing.places(0), pairing.places(1)
    assert (len(in_a), len(in_b)) == (len(a), len(b))
    assert {(n, in_b.index(place)) for n, place in enumerate(in_a) if place in in_b} == set(pairing.pairs)
    assert sorted({*in_a, *in_b}) == list(range(len(pairing.order)))


def test_the_difference_is_b_minus_a_and_nothing_where_neither_may_look() -> None:
    before, after = (np.where(causal(3), pattern(1, causal(3), seed=seed)[0], np.nan) for seed in (3, 4))
    both = pair("abc", "axc")  # a, b, x, c
    found = difference(before, after, both, both)
    assert found.shape == (4, 4)
    assert found[3, 0] == pytest.approx(after[2, 0] - before[2, 0])
    assert np.isnan(found[1:3]).all()
    assert np.isnan(found[:, 1:3]).all()
    assert np.isnan(found[0, 3])  # masked
    assert np.isnan(difference(before, after, pair("abc", "xyz"), both)).all()


def test_a_look_that_one_mask_forbids_is_a_share_of_nothing() -> None:
    open_, closed = pattern(1, np.ones((3, 3), bool), seed=3)[0], np.where(causal(3), pattern(1, causal(3))[0], np.nan)
    both = pair("abc", "abc")
    found = difference(closed, open_, both, both)
    assert found[0, 2] == pytest.approx(open_[0, 2])
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-6)  # what one key gets, others lose
    np.testing.assert_allclose(difference(open_, closed, both, both), -found)
