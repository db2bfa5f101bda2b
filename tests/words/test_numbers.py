"""Numbers as the pages write them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.each import each
from tfmviz.words.numbers import decimal, in_words, per_cent, rounded, tiny


@each("value, text", [(0, "0"), (1.5e-6, "1.5·10⁻⁶"), (9.97e-12, "1.0·10⁻¹¹"), (0.031, "3.1·10⁻²"), (12, "1.2·10¹")])
def test_powers_of_ten(value: float, text: str) -> None:
    assert tiny(value) == text


@each("value, text", [(0, "0"), (14.2, "14"), (9.96, "10"), (0.254, "0.25"), (0.00123, "0.0012"), (6.2e-6, "6.2·10⁻⁶")])
def test_two_digits_that_count(value: float, text: str) -> None:
    assert rounded(value) == text


@each(
    "value, text",
    [
        (999_999, "999,999"),
        (1e6, "1 million"),
        (999.4e6, "999 million"),
        (1e9, "1 billion"),
        (2.5e12, "2.5 trillion"),
        (999e12, "999 trillion"),
        (1e15, "1.0·10¹⁵"),
    ],
)
def test_how_many_in_words_from_a_million_on_and_below_a_thousand_trillions(value: float, text: str) -> None:
    assert in_words(value) == text


def test_minus_signs_are_true_and_zero_has_none() -> None:
    assert [decimal(value) for value in (-0.254, -0.004, 2)] == ["−0.25", "0.00", "2.00"]
    assert [decimal(value, "+.1f") for value in (-2, 0.5, -0.01)] == ["−2.0", "+0.5", "+0.0"]


@each("write", [decimal, per_cent, rounded, tiny])
@each("value", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")])
def test_what_is_not_finite_is_a_dash(write: Callable[[float], str], value: float) -> None:
    assert write(value) == "–"


@each("write", [decimal, rounded, tiny])
@each("value", [5e-324, 1.7e308, np.float32(1e-45), np.float32(3e38), 0.0])
def test_the_smallest_and_largest_numbers_can_be_written(write: Callable[[float], str], value: float) -> None:
    assert any(digit.isdigit() for digit in write(value))


@each("value, text", [(1, "100%"), (0.294, "29%"), (0.034, "3.4%"), (0.0002, "0.02%"), (0, "0.00%"), (-1e-8, "0.00%")])
def test_shares(value: float, text: str) -> None:
    assert per_cent(value) == text
