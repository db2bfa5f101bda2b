"""Welch's interval: how often it holds the truth, and the table that it uses."""

import math

import numpy as np
import pytest

from tests.cases import each
from tfmviz.analysis.variants import T_975, Difference, welch


@each("freedom", range(1, len(T_975) + 1))
def test_between_the_points_of_the_table_lies_95_percent_of_students_distribution(freedom: int) -> None:
    x = np.linspace(0, T_975[freedom - 1], 200_001)
    density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    density *= math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))
    assert 2 * np.trapezoid(density, x) == pytest.approx(0.95, abs=1e-4)


@each("n, m, spread", [(n, m, spread) for n, m in ((3, 3), (5, 5), (3, 8)) for spread in (1.0, 5.0)])
def test_intervals_hold_the_true_difference_in_at_least_95_of_100_experiments(n: int, m: int, spread: float) -> None:
    generator, held = np.random.default_rng(0), 0
    for _ in range(2000):
        found = welch(generator.normal(0, 1, n) + 7, generator.normal(0, spread, m))
        held += found.low <= 7 <= found.high
    assert 0.94 <= held / 2000 <= 0.995


def test_with_equal_spreads_it_is_students_interval_and_equal_runs_leave_no_doubt() -> None:
    same = np.full(3, 2.0)
    assert welch(same, same) == Difference(mean=0.0, low=0.0, high=0.0)
    assert (welch(same, same).is_noise, welch(same + 1, same).is_noise) == (True, False)
    ours, theirs = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0])
    found = welch(ours, theirs)
    half = 2.776 * math.sqrt(1 / 3 + 1 / 3)  # four degrees of freedom, variances of 1
    assert (found.mean, found.low, found.high) == pytest.approx((-4, -4 - half, -4 + half))
