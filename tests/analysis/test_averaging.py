"""A head's output is an average of values: the pages' plane shows it where it is, inside of what they span."""

import numpy as np
import pytest

import tfmviz
from tests.cases import each
from tfmviz.analysis.averaging import hull, in_a_plane


def is_left_of_all(point: np.ndarray, corners: np.ndarray, *, slack: float = 0.0) -> bool:
    """Whether a point lies inside a polygon whose corners are given counter-clockwise."""
    ahead, to_it = np.roll(corners, -1, axis=0) - corners, point - corners
    return bool((ahead[:, 0] * to_it[:, 1] - ahead[:, 1] * to_it[:, 0] >= -slack).all())


@each("seed", range(5))
def test_the_corners_are_the_points_that_lie_farthest_in_some_direction(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(40, 2))
    corners = hull(points)
    angles = np.linspace(0, 2 * np.pi, 100_000)
    farthest = points @ np.stack((np.cos(angles), np.sin(angles)))
    assert set(corners) == set(farthest.argmax(axis=0).tolist())
    assert all(is_left_of_all(point, points[list(corners)], slack=1e-12) for point in points)


def test_few_points_are_their_own_corners_and_attention_left_over_goes_to_nothing() -> None:
    for n in (1, 2):
        assert sorted(hull(np.arange(2.0 * n).reshape(n, 2))) == list(range(n))
    assert len(hull(np.ones((4, 2)))) <= 2
    found = in_a_plane(np.eye(2), np.array([0.25, 0.25]))
    assert found.weights.tolist() == [0.25, 0.25, 0.5]
    assert len(found.places) == 3
    np.testing.assert_allclose(found.middle, found.weights @ found.places)
    assert np.linalg.norm(found.places[0] - found.places[2]) == pytest.approx(1.0)  # |(1, 0) − 0|
    flat = np.array([[0.0, 0.0, 5.0], [3.0, 0.0, 5.0], [0.0, 2.0, 5.0]])
    assert in_a_plane(flat, np.full(3, 1 / 3)).seen == pytest.approx(1.0)
    assert in_a_plane(np.vstack((np.eye(3), -np.eye(3))), np.full(6, 1 / 6)).seen == pytest.approx(2 / 3)


@each("name", ["twins-attention-only", "tiny-english", "fill-in"])
def test_what_every_head_writes_stands_in_its_place_inside_the_area(name: str) -> None:
    trace = tfmviz.load(name).trace("The animal didn't cross the street because it was too tired.")
    stack = next(site.split(".")[0] for site in trace.sites if site.endswith(".self_attn.z"))
    for layer in (f"{stack}.{n}.self_attn" for n in range(2)):
        values, pattern, z = (trace[f"{layer}.{part}"].astype(np.float64) for part in ("v", "pattern", "z"))
        for head in range(len(pattern)):
            own = values[head * len(values) // len(pattern)]  # (len, d_head)
            found = in_a_plane(own, pattern[head, -1])
            _, _, directions = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)
            seen = (z[head, -1] - own.mean(axis=0)) @ directions[:2].T
            np.testing.assert_allclose(np.abs(found.middle), np.abs(seen), atol=1e-3 * np.abs(own).max())
            corners = found.places[list(found.around)]
            assert is_left_of_all(found.middle, corners, slack=1e-6 * np.abs(corners).max() ** 2)
