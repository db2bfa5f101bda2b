"""Hiding words: shares of what happens to them, and spans that put the text together again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.each import each
from tfmviz.text import corruption


def test_fifteen_per_cent_are_asked_for_and_fare_as_in_bert() -> None:
    ids = np.full((400, 101), 7)
    is_token = np.arange(101) < 97
    read, asked = corruption.masked(ids, np.tile(is_token, (400, 1)), np.random.default_rng(1), mask=1, vocab_size=997)
    assert not asked[:, 97:].any()
    assert asked[:, :97].mean() == pytest.approx(0.15, abs=0.01)
    assert (read[~asked] == 7).all()
    assert (read[asked] == 1).mean() == pytest.approx(0.8, abs=0.02)
    assert (read[asked] == 7).mean() == pytest.approx(0.1, abs=0.02)
    assert read[asked].min() == 1
    assert read.max() < 997


def test_at_least_one_token_is_asked_for_and_each_draw_is_another() -> None:
    one = np.array([[5]])
    for seed in range(20):
        assert corruption.masked(one, one > 0, np.random.default_rng(seed), mask=1, vocab_size=9)[1].all()
    many = np.arange(2, 60)[None]
    draws = {corruption.masked(many, many > 0, np.random.default_rng(s), mask=1, vocab_size=99)[1].tobytes()
             for s in range(9)}  # fmt: skip
    assert len(draws) == 9


@each("length", [2, 3, 7, 20, 61, 256])
def test_spans_leave_fifteen_per_cent_out_and_never_touch(length: int) -> None:
    for seed in range(25):
        found = corruption.spans(length, np.random.default_rng(seed))
        hidden = sum(span.end - span.start for span in found)
        assert hidden == max(round(0.15 * length), 1)
        assert found[0].start >= 0
        assert found[-1].end <= length
        assert all(a.end < b.start for a, b in pairwise(found))
        assert len(found) == max(round(hidden / 3), 1)


@each("length", [2, 9, 30])
def test_every_token_may_be_left_out_and_none_far_more_often_than_others(length: int) -> None:
    """The first and the last as well: a sentence has one span or two, and its end must not always be what is asked."""
    hidden = np.zeros(length)
    for seed in range(4000):
        for span in corruption.spans(length, np.random.default_rng(seed)):
            hidden[span.start : span.end] += 1
    assert hidden.sum() / 4000 == max(round(0.15 * length), 1)
    assert hidden.min() > 0.2 * hidden.mean()
    assert hidden.max() < 1.3 * hidden.mean()


@each("length", [0, 1])
def test_a_text_too_short_has_no_span(length: int) -> None:
    assert corruption.spans(length, np.random.default_rng(0)) == []
    assert corruption.left_out(["a"][:length], [], marks=["⟨1⟩"]) == (["a"][:length], [])


def test_what_is_read_and_what_is_written_make_up_the_text() -> None:
    tokens = [f"w{n}" for n in range(41)]
    hidden = corruption.spans(41, np.random.default_rng(3))
    reads, writes = corruption.left_out(tokens, hidden, marks=[f"⟨{n}⟩" for n in range(1, len(hidden) + 2)])
    assert writes[0] == "⟨1⟩"
    assert writes[-1] == f"⟨{len(hidden) + 1}⟩"
    parts: dict[str, list[str]] = {}
    for token in writes:
        if token.startswith("⟨"):
            mark = token
            parts[mark] = []
        else:
            parts[mark].append(token)
    whole = [word for token in reads for word in parts.get(token, [token])]
    assert whole == tokens
