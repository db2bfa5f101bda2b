"""Texts that need no corpus: questions with one right answer, and repeated random tokens."""

import re

import numpy as np

from tests.cases import each
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
