"""Numbers as the pages write them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import each
from tfmviz.words.numbers import decimal, in_words, per_cent, rounded, tiny, which_way

WRITTEN = (
    (tiny, {0: "0", 1.5e-6: "1.5·10⁻⁶", 9.97e-12: "1.0·10⁻¹¹", 0.031: "3.1·10⁻²", 12: "1.2·10¹"}),
    (rounded, {0: "0", 14.2: "14", 9.96: "10", 0.254: "0.25", 0.00123: "0.0012", 6.2e-6: "6.2·10⁻⁶"}),
    (
        in_words,
        {999_999: "999,999", 1e6: "1 million", 999.4e6: "999 million", 1e9: "1 billion", 2.5e12: "2.5 trillion"},
    ),
    (in_words, {999e12: "999 trillion", 1e15: "1.0·10¹⁵"}),
    (per_cent, {1: "100%", 0.294: "29%", 0.034: "3.4%", 0.0002: "0.02%", 0: "0.00%", -1e-8: "0.00%"}),
)


@each("write, texts", WRITTEN)
def test_numbers_are_written_as_people_read_them(write: Callable[[float], str], texts: dict[float, str]) -> None:
    """Powers of ten, two digits that count, numbers in words from a million on, and shares."""
    assert {value: write(value) for value in texts} == texts


def test_minus_signs_are_true_and_zero_has_none() -> None:
    assert [decimal(value) for value in (-0.254, -0.004, 2)] == ["−0.25", "0.00", "2.00"]
    assert [decimal(value, "+.1f") for value in (-2, 0.5, -0.01)] == ["−2.0", "+0.5", "+0.0"]


@each("write", [decimal, per_cent, rounded, tiny])
def test_what_is_not_finite_is_a_dash(write: Callable[[float], str]) -> None:
    values: list[Any] = [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")]
    assert [write(value) for value in values] == ["–"] * 5


@each("write", [decimal, rounded, tiny])
def test_the_smallest_and_largest_numbers_can_be_written(write: Callable[[float], str]) -> None:
    values: list[Any] = [5e-324, 1.7e308, np.float32(1e-45), np.float32(3e38), 0.0]
    assert all(any(map(str.isdigit, write(value))) for value in values)


def test_a_second_number_is_less_or_more_where_it_is_written_so() -> None:
    said = [which_way(0.5, after, less="less", same="same", more="more") for after in (0.494, 0.496, 0.504, 0.506)]
    assert said == ["less", "same", "same", "more"]
