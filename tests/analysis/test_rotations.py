"""What RoPE does to products of queries and keys: laws, and the paper's own formulas."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.cases import each
from tfmviz.analysis import rotations
from tfmviz.analysis.position_terms import along_diagonals
from tfmviz.record.trace import Array

D_HEAD, N_PAIRS = 10, 5

THETA = 10000.0 ** (-np.arange(N_PAIRS) / N_PAIRS)

seeds = each("seed", [1, 2, 3])


def vectors(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def rotation(position: Any, theta: Array = THETA) -> Array:
    """The paper's block-diagonal matrix R (equation 15)."""
    matrix = np.zeros((2 * len(theta), 2 * len(theta)))
    for m, angle in enumerate(position * theta):
        matrix[2 * m : 2 * m + 2, 2 * m : 2 * m + 2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return matrix


@seeds
@each("shift", [0, -17, 4001])
def test_turning_is_multiplying_by_the_papers_matrix(seed: int, shift: int) -> None:
    q, at = vectors(3, D_HEAD, seed=seed), np.array([0, 5, 2]) + shift
    expected = [rotation(i) @ x for i, x in zip(at, q, strict=True)]
    np.testing.assert_allclose(rotations.turn_pairs(q, rotations.angles(at, THETA)), expected, atol=1e-10)


@seeds
def test_halves_are_neighbours_in_another_order(seed: int) -> None:
    x, by = vectors(3, D_HEAD, seed=seed), rotations.angles(np.array([0, 5, 2]), THETA)
    order = rotations.halves_order(D_HEAD)
    assert order.tolist() == [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
    np.testing.assert_allclose(rotations.turn_halves(x[:, order], by), rotations.turn_pairs(x, by)[:, order])


@seeds
def test_means_over_distance_equal_those_of_turned_vectors_pair_by_pair(seed: int) -> None:
    q, k = vectors(2, 4, D_HEAD, seed=seed)
    distances = np.array([0, 1, 7, -3])
    expected = [np.mean([[a @ rotation(-d) @ b for a in q] for b in k]) for d in distances]
    np.testing.assert_allclose(rotations.mean_of_all_pairs(q, k, THETA, distances), expected, atol=1e-12)


def test_means_along_diagonals_and_relative_indices_as_pictures() -> None:
    assert along_diagonals(np.array([[1.0, 9, 9], [2, 3, 9], [4, 6, 5]]))[0].tolist() == [3, 4, 4]
    assert rotations.relative_index(3, 5, clip=2).tolist() == [[2, 3, 4, 4, 4], [1, 2, 3, 4, 4], [0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match="at least 1, but is 0"):
        rotations.relative_index(3, 3, clip=0)


@seeds
def test_no_product_exceeds_the_papers_bound(seed: int) -> None:
    q, k = vectors(2, D_HEAD, seed=seed)
    distances = np.arange(60)
    products = np.array([q @ rotation(-d) @ k for d in distances])
    bound = rotations.bound(q, k, THETA, distances)
    assert (np.abs(products) <= bound).all()
    h = [complex(*q[2 * m : 2 * m + 2]) * complex(*k[2 * m : 2 * m + 2]).conjugate() for m in range(N_PAIRS)] + [0]
    sums = [abs(sum(np.exp(1j * 3 * t) for t in THETA[:j])) for j in range(1, N_PAIRS + 1)]
    assert bound[3] == pytest.approx(max(abs(b - a) for a, b in pairwise(h)) * sum(sums))
    assert rotations.relative_bound(THETA, distances)[3] == pytest.approx(np.mean(sums))


def test_the_bound_is_reached_where_the_triangle_inequality_is_tight() -> None:
    """At distance 0 with h_m = d/2 − m all differences are 1 and all S_j = j: q · k = Σ_j j."""
    steps = np.sqrt(np.arange(N_PAIRS, 0, -1.0))
    q = np.stack((steps, np.zeros(N_PAIRS)), axis=-1).ravel()
    assert rotations.bound(q, q, THETA, np.array([0]))[0] == pytest.approx(q @ q)
    alike = np.tile([1.0, 0], N_PAIRS)  # only past the last pair is there a step
    assert rotations.bound(alike, alike, THETA, np.array([0]))[0] == pytest.approx(1 + 2 + 3 + 4 + 5)


def test_random_products_follow_their_law_and_no_position_is_too_far() -> None:
    assert rotations.angles(np.array([0, -3]), THETA).tolist() == [[0.0] * N_PAIRS, (-3 * THETA).tolist()]
    for position in (10**9 + 1, -(10**15)):
        with pytest.raises(ValueError, match="Positions up to 1,000,000,000 can be computed"):
            rotations.angles(np.array([position]), THETA)
    distances = np.arange(40)
    same, other = rotations.random_products(THETA, distances, n=20_000, seed=0)
    np.testing.assert_allclose(same, np.cos(np.outer(distances, THETA)).mean(axis=1), atol=0.02)
    np.testing.assert_allclose(other, 0, atol=0.02)
