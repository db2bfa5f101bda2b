"""Synthetic texts: questions with one right answer, and repeated random tokens."""

from __future__ import annotations

import string
from collections.abc import Callable

import numpy as np

from tfmviz.text.corpora import is_held_out

HELD_OUT_PER_MILLE = 100
"""Held-out questions per thousand."""

ANSWERS: dict[str, Callable[[str], str]] = {
    "copy": lambda question: question,
    "reverse": lambda question: question[::-1],
    "sort": lambda question: "".join(sorted(question)),
    "add": lambda question: str(sum(int(number) for number in question.split("+"))),
}
"""The answer to a question, by task."""


def question(task: str, rng: np.random.Generator, *, size: int) -> str:
    """A random question: for "add", two numbers of 1 to `size` digits ("27+8"); otherwise 1 to `size` letters, all
    lengths equally likely.
    """
    if task == "add":
        return "+".join(str(rng.integers(10 ** int(rng.integers(1, size + 1)))) for _ in range(2))
    return "".join(rng.choice(list(string.ascii_lowercase), size=int(rng.integers(1, size + 1))))


def questions(task: str, rng: np.random.Generator, *, n: int, size: int, held_out: bool) -> list[str]:
    """Random questions, all held out from training or none, by a hash of the text.

    Raises:
        ValueError: `size` is so small that there are hardly any.
    """
    found: list[str] = []
    for _ in range(1000 * n):
        drawn = question(task, rng, size=size)
        if is_held_out(drawn, per_mille=HELD_OUT_PER_MILLE) == held_out:
            found.append(drawn)
            if len(found) == n:
                return found
    raise ValueError(f"With a size of {size} there are too few questions to hold some out.")


def repeated_random(rng: np.random.Generator, *, length: int, vocab_size: int) -> np.ndarray:
    """Repeats a random segment: w_1 … w_p w_1 … w_p w_1 …: (length,), int64.

    The period p is random, from 4 to length / 2, uniform on a logarithmic scale. The next token can only be predicted
    from the one after this token's last occurrence, as an induction head does (Olsson et al. 2022).

    Args:
        length: at least 8.
        vocab_size: indices are uniform on 1 … vocab_size - 1.
    """
    period = int(np.exp(rng.uniform(np.log(4), np.log(length / 2))))
    segment = rng.integers(1, vocab_size, size=period)
    return np.resize(segment, length)
