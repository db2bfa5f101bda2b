"""What training asks without answers by hand: tasks, repeats, hidden words and spans."""

import re
from itertools import pairwise

import numpy as np
import pytest

from tests.cases import each
from tfmviz.text import corruption
from tfmviz.text.corpora import is_held_out
from tfmviz.text.tasks import ANSWERS, HELD_OUT_PER_MILLE, question, questions, repeated_random


def test_every_task_has_its_answer_and_held_out_questions_are_not_trained_on() -> None:
    expected = {
        ("copy", "hello"): "hello",
        ("reverse", "hello"): "olleh",
        ("sort", "hello"): "ehllo",
        ("add", "27+8"): "35",
    }
    assert {(task, asked): ANSWERS[task](asked) for task, asked in expected} == expected
    rng = np.random.default_rng(1)
    held_out = set(questions("reverse", rng, n=199, size=3, held_out=True))
    trained = set(questions("reverse", rng, n=1999, size=3, held_out=False))
    assert held_out
    assert not held_out & trained
    assert all(is_held_out(q, per_mille=HELD_OUT_PER_MILLE) for q in held_out)


@each("task", list(ANSWERS))
def test_questions_have_all_sizes_and_no_others(task: str) -> None:
    rng = np.random.default_rng(1)
    asked = [question(task, rng, size=3) for _ in range(499)]
    pattern = r"\d{1,3}\+\d{1,3}" if task == "add" else "[a-z]{1,3}"
    assert all(re.fullmatch(pattern, q) for q in asked)
    assert {len(q) for q in asked} >= ({3, 4, 5, 6, 7} if task == "add" else {1, 2, 3})


@each("length", [11, 23, 257])
def test_a_random_segment_repeats_at_least_twice_with_periods_of_all_sizes(length: int) -> None:
    rng, periods = np.random.default_rng(3), []
    for _ in range(97):
        ids = repeated_random(rng, length=length, vocab_size=6007)
        assert ids.shape == (length,)
        assert ids.dtype == np.int64
        periods.append(next(p for p in range(1, length) if (ids[p:] == ids[:-p]).all()))
    assert min(periods) == 4
    assert length // 4 <= max(periods) <= length // 2


def test_a_segment_is_drawn_from_the_whole_vocabulary_but_for_the_mark() -> None:
    rng = np.random.default_rng(3)
    drawn = {index for _ in range(97) for index in repeated_random(rng, length=23, vocab_size=13).tolist()}
    assert drawn == set(range(1, 13))


def test_fifteen_per_cent_are_asked_for_and_fare_as_in_bert_and_one_at_least() -> None:
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

    def drawn(ids: np.ndarray, seed: int) -> np.ndarray:
        return corruption.masked(ids, ids > 0, np.random.default_rng(seed), mask=1, vocab_size=99)[1]

    assert all(drawn(np.array([[5]]), seed).all() for seed in range(20))
    assert len({drawn(np.arange(2, 60)[None], seed).tobytes() for seed in range(9)}) == 9


@each("length", [2, 3, 7, 20, 61, 256])
def test_spans_leave_fifteen_per_cent_out_and_never_touch(length: int) -> None:
    for seed in range(25):
        found = corruption.spans(length, np.random.default_rng(seed))
        hidden = sum(span.end - span.start for span in found)
        assert hidden == max(round(0.15 * length), 1)
        assert 0 <= found[0].start < found[-1].end <= length
        assert all(a.end < b.start for a, b in pairwise(found))
        assert len(found) == max(round(hidden / 3), 1)


@each("length", [2, 9, 30])
def test_every_token_may_be_left_out_and_none_far_more_often_than_others(length: int) -> None:
    hidden = np.zeros(length)
    for seed in range(4000):
        for span in corruption.spans(length, np.random.default_rng(seed)):
            hidden[span.start : span.end] += 1
    assert hidden.sum() / 4000 == max(round(0.15 * length), 1)
    assert 0.2 * hidden.mean() < hidden.min() <= hidden.max() < 1.3 * hidden.mean()


@each("length", [0, 1])
def test_a_text_too_short_has_no_span(length: int) -> None:
    assert corruption.spans(length, np.random.default_rng(0)) == []
    assert corruption.left_out(["a"][:length], [], marks=["⟨1⟩"]) == (["a"][:length], [])
