"""From logits to words, and from words to vectors: softmax, neighbours, principal components."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tfmviz.analysis import embedding
from tfmviz.analysis.predictions import Prediction, softmax, top_predictions
from tfmviz.record.trace import Array


@each("scale", [1.0, 30.0, 1e4])
@each("dtype", [np.float32, np.float64])
def test_softmax_is_torchs_in_float64(scale: float, dtype: type[np.floating[Any]]) -> None:
    logits = (scale * np.random.default_rng(11).standard_normal((3, 41))).astype(dtype)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        probabilities = softmax(logits)
    assert probabilities.dtype == np.float64
    expected = torch.softmax(torch.from_numpy(logits).double(), dim=-1).numpy()
    np.testing.assert_allclose(probabilities, expected, rtol=1e-12, atol=0)


@each("k", [1, 7, 41])
def test_top_predictions_are_torchs(k: int) -> None:
    logits = np.random.default_rng(13).standard_normal(41).astype(np.float32)
    expected = torch.topk(torch.softmax(torch.from_numpy(logits).double(), dim=-1), k)
    found = top_predictions(logits, k)
    assert [prediction.index for prediction in found] == expected.indices.tolist()
    assert [prediction.probability for prediction in found] == pytest.approx(expected.values.tolist(), rel=1e-12)


def test_of_equally_probable_tokens_the_lower_index_comes_first() -> None:
    for logits, k, best in (([1, 3, 3, 1, 3], 5, [1, 2, 4, 0, 3]), ([1, 2, 1, 5, 1], 3, [3, 1, 0])):
        assert [one.index for one in top_predictions(np.array(logits, np.float32), k)] == best
    assert top_predictions(np.zeros(2, np.float32), 5) == (Prediction(0, 0.5), Prediction(1, 0.5))  # all there are


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
