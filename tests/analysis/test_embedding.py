"""Looking up a vector, its neighbours, and the plane of principal components."""

import numpy as np
import pytest

from tfmviz.analysis import embedding
from tfmviz.record.trace import Array


@pytest.fixture(scope="module")
def table() -> Array:
    return np.random.default_rng(3).normal(size=(23, 7)).astype(np.float32)


def test_the_plane_is_that_of_a_decomposition_and_a_one_hot_product_a_row(table: Array) -> None:
    for index in (0, 11, 22):
        assert np.array_equal(embedding.looked_up(table, index), table[index])
    places, shares = embedding.plane(table)
    centred = table.astype(float) - table.mean(axis=0, dtype=float)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(places), np.abs(u[:, :2] * s[:2]), atol=1e-6)
    assert np.allclose(shares, s[:2] ** 2 / (s**2).sum())
    assert (places.max(axis=0) >= -places.min(axis=0)).all()


def test_neighbours_are_those_of_the_smallest_angle_and_zeros_are_nobodys(table: Array) -> None:
    index, rows = 5, table.astype(float) / np.linalg.norm(table, axis=1, keepdims=True)
    cosines = rows @ rows[index]
    nearest = [n for n in np.argsort(-cosines).tolist() if n != index]
    assert embedding.nearest(table, index, n=6).tolist() == nearest[:6]
    assert np.allclose(embedding.cosines_to(table, index), cosines, atol=1e-6)
    holed = table.copy()
    holed[4] = 0
    assert 4 not in embedding.nearest(holed, 0, n=22)
    assert embedding.nearest(holed, 4, n=22).size == 0
