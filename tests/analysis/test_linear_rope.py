"""RoPE with linear attention, against RoFormer's formula in complex numbers."""

from __future__ import annotations

import numpy as np

from tfmviz.analysis import linear_attention
from tfmviz.record.trace import Array

HEADS, LENGTH, PAIRS = 2, 7, 5


def normal(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def phi(x: float) -> float:
    return x + 1 if x > 0 else float(np.exp(x))


def test_shares_are_the_real_parts_of_turned_products_over_a_sum_that_is_not_turned() -> None:
    """Su et al. 2021, equation 19, number by number: a pair of coordinates is a complex number, a turn a factor."""
    q, k = normal(HEADS, LENGTH, 2 * PAIRS, seed=1), normal(HEADS, LENGTH, 2 * PAIRS, seed=2)
    theta = normal(PAIRS, seed=3)
    found = linear_attention.shares(q, k, angles=np.arange(LENGTH)[:, None] * theta)
    for head in range(HEADS):
        for i in range(LENGTH):
            products, below = np.zeros(LENGTH), 0.0
            for j in range(i + 1):
                a, b = ([phi(x) for x in row] for row in (q[head, i], k[head, j]))
                below += sum(x * y for x, y in zip(a, b, strict=True))
                for p in range(PAIRS):
                    one, other = (complex(*row[2 * p : 2 * p + 2]) for row in (a, b))
                    products[j] += (one * other.conjugate() * np.exp(1j * theta[p] * (i - j))).real
            np.testing.assert_allclose(found[head, i], products / below, atol=1e-12)


def test_without_turns_rows_sum_to_1_and_with_them_shares_may_be_negative() -> None:
    q, k = normal(HEADS, LENGTH, 2 * PAIRS, seed=1), normal(HEADS, LENGTH, 2 * PAIRS, seed=2)
    np.testing.assert_allclose(linear_attention.shares(q, k, angles=None).sum(axis=-1), 1)
    half_turns = np.arange(LENGTH)[:, None] * np.full(PAIRS, np.pi)
    assert linear_attention.shares(q, k, angles=half_turns).min() < 0
