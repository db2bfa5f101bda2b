"""Linear attention against its definition; with RoPE, against RoFormer's formula in complex numbers."""

from itertools import product

import numpy as np
import torch

from tfmviz.analysis import linear_attention
from tfmviz.record.trace import Array

HEADS, LENGTH, PAIRS = 2, 7, 5


def normal(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def phi(x: Array) -> Array:
    return torch.nn.functional.elu(torch.tensor(x)).numpy() + 1


Q, K, V = normal(3, HEADS, LENGTH, 2 * PAIRS, seed=1)


def test_shares_are_the_real_parts_of_turned_products_over_a_sum_that_is_not_turned() -> None:
    """Su et al. 2021, equation 19, number by number: a pair of coordinates is a complex number, a turn a factor."""
    theta = normal(PAIRS, seed=3)
    angles = np.arange(LENGTH)[:, None] * theta
    found = linear_attention.shares(Q, K, angles=angles)
    for head, i in product(range(HEADS), range(LENGTH)):
        a, b = phi(Q[head, i]), phi(K[head, : i + 1])
        one, others = a[::2] + 1j * a[1::2], b[:, ::2] + 1j * b[:, 1::2]
        turns = np.exp(1j * theta * (i - np.arange(i + 1))[:, None])
        expected = (one * others.conj() * turns).real.sum(axis=-1) / (a * b).sum()
        np.testing.assert_allclose(found[head, i], [*expected, *[0] * (LENGTH - i - 1)], atol=1e-12)
    pairs = linear_attention.over_pairs(Q, K, V, angles=angles, bias=None)
    for values in (pairs, linear_attention.running(Q, K, V, angles=angles)):
        np.testing.assert_allclose(values, found @ V, atol=1e-10)


def test_without_turns_rows_sum_to_1_and_a_bias_is_lost_in_the_running_sum() -> None:
    np.testing.assert_allclose(linear_attention.shares(Q, K, angles=None).sum(axis=-1), 1)
    half_turns = np.arange(LENGTH)[:, None] * np.full(PAIRS, np.pi)
    assert linear_attention.shares(Q, K, angles=half_turns).min() < 0
    bias = normal(HEADS, LENGTH, LENGTH, seed=4)
    pairs, plain = (linear_attention.over_pairs(Q, K, V, angles=None, bias=added) for added in (bias, None))
    running = linear_attention.running(Q, K, V, angles=None)
    np.testing.assert_allclose(running, plain, atol=1e-12)
    assert np.abs(running - pairs)[:, 1:].max() > 0.1
