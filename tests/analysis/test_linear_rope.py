"""Linear attention against its definition; with RoPE, against RoFormer's formula in complex numbers."""

from __future__ import annotations

import numpy as np
import torch

from tfmviz.analysis import linear_attention
from tfmviz.record.trace import Array

HEADS, LENGTH, PAIRS = 2, 7, 5


def normal(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def phi(x: float) -> float:
    return x + 1 if x > 0 else float(np.exp(x))


def feature(x: Array) -> Array:
    return torch.nn.functional.elu(torch.tensor(x)).numpy() + 1


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


def test_linear_attention_is_the_sum_over_pairs_of_its_definition() -> None:
    rng = np.random.default_rng(3)
    q, k, v = rng.standard_normal((3, 2, 5, 6))
    angles = np.outer(np.arange(5), [1.0, 0.3, 0.01])

    for head in range(2):
        for i in range(5):
            above, below = np.zeros(6), 0.0
            for j in range(i + 1):
                pair = feature(q[head, i]) * feature(k[head, j])
                cross = (
                    feature(q[head, i])[::2] * feature(k[head, j])[1::2]
                    - feature(q[head, i])[1::2] * feature(k[head, j])[::2]
                )
                turn = angles[i] - angles[j]
                score = (pair[::2] + pair[1::2]) @ np.cos(turn) + cross @ -np.sin(-turn)
                above, below = above + score * v[head, j], below + pair.sum()
            for found in (
                linear_attention.over_pairs(q, k, v, angles=angles, bias=None),
                linear_attention.running(q, k, v, angles=angles),
            ):
                np.testing.assert_allclose(found[head, i], above / below, atol=1e-10)


def test_a_bias_is_lost_in_the_running_sum() -> None:
    rng = np.random.default_rng(4)
    q, k, v = rng.standard_normal((3, 2, 5, 6))
    bias = rng.standard_normal((2, 5, 5))
    pairs = linear_attention.over_pairs(q, k, v, angles=None, bias=bias)
    plain = linear_attention.over_pairs(q, k, v, angles=None, bias=None)
    running = linear_attention.running(q, k, v, angles=None)
    np.testing.assert_allclose(running, plain, atol=1e-12)
    assert np.abs(running - pairs)[:, 1:].max() > 0.1
