"""Principal angles between what heads write and later parts read, against projections, and laws."""

import numpy as np
import pytest

import tfmviz
from tests.cases import each
from tfmviz.analysis.why import subspaces


def projection(W: np.ndarray) -> np.ndarray:
    """On the columns of W."""
    return W @ np.linalg.pinv(W)


def test_one_known_angle_and_what_feed_forward_layers_read_most() -> None:
    one = np.eye(3)[:, :2]
    other = np.array([[1, 0], [0, np.cos(0.3)], [0, np.sin(0.3)]])
    np.testing.assert_allclose(np.arccos(subspaces.cosines(one, other)), [0, 0.3], atol=1e-7)
    weights = tfmviz.load("tiny-english").weights.stacks["decoder"]
    mlps, values = subspaces.overlaps_with_mlps(weights)
    n_heads = len(values) // len(mlps)
    for column, mlp in enumerate(mlps):
        assert np.isnan(values[(column + 1) * n_heads :, column]).all()
        assert np.isfinite(values[: (column + 1) * n_heads, column]).all()
        W = weights.feed_forward[mlp].W_in.astype(float) * weights.norms[mlp].gain[:, None]
        U, _, _ = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)
        written = weights.attention[f"decoder.{column}.self_attn"].W_O[1].astype(float).T
        read = U[:, : written.shape[1]]
        expected = np.trace(projection(written) @ read @ read.T) / written.shape[1]
        assert values[column * n_heads + 1, column] == pytest.approx(expected, abs=1e-4)
    assert subspaces.overlaps_with_mlps(tfmviz.load("induction").weights.stacks["decoder"])[0] == ()


@each("d_model, d_head", [(64, 16), (96, 8)])
def test_random_subspaces_share_their_part_of_all_directions(d_model: int, d_head: int) -> None:
    low, mean, high = subspaces.by_chance(d_model, d_head)
    rng = np.random.default_rng(5)
    drawn = [np.trace(np.matmul(*map(projection, rng.normal(size=(2, d_model, d_head))))) for _ in range(60)]
    assert np.mean(drawn) / d_head == pytest.approx(mean, rel=0.03)
    assert low < mean < high


@each("name", ["twins-rope", "twins-gqa"])
def test_every_pair_is_the_trace_of_two_projections(name: str) -> None:
    """The norm before a layer takes the mean away and multiplies by γ: both belong to what is read."""
    weights = tfmviz.load(name).weights.stacks["decoder"]
    found = subspaces.overlaps(weights, "K")
    for row, column in ((0, 5), (2, 13), (7, 9)):
        (earlier, head), (later, reader) = found.heads[row], found.heads[column]
        attention, norm = weights.attention[later], weights.norms[later]
        W_K = norm.gain[:, None] * attention.W_K[reader * len(attention.W_K) // len(attention.W_Q)].astype(float)
        if np.abs(norm(np.full((1, len(W_K)), 3.0)) - norm.bias).max() < 1e-3:
            W_K = W_K - W_K.mean(axis=0)  # a norm that takes the mean away
        written = weights.attention[earlier].W_O[head].astype(float).T
        both = projection(written) @ projection(W_K)
        assert found.values[row, column] == pytest.approx(np.trace(both) / written.shape[1], abs=1e-4)
        angle = subspaces.smallest_angle(weights, found.heads[row], found.heads[column], "K")
        assert np.cos(np.radians(angle)) == pytest.approx(np.linalg.svd(both, compute_uv=False)[0], abs=1e-4)
    assert np.isnan(found.values[5, 0])
