"""A feed-forward layer taken apart, against PyTorch and the record; averages lie inside of what they are made of."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tfmviz
from tests.cases import each
from tests.model.helpers import lively_model
from tests.model.sizes import D_FF, D_MODEL, VOCAB
from tests.records import traced
from tfmviz.analysis import feed_forward
from tfmviz.analysis.averaging import hull, in_a_plane
from tfmviz.analysis.feed_forward import PARTS
from tfmviz.model.weights import weights_of
from tfmviz.record.trace import Trace
from tfmviz.record.weights import FeedForwardWeights

KINDS: dict[str, dict[str, Any]] = {
    "gelu": {},
    "relu": {"feed_forward": "relu"},
    "gated": {"feed_forward": "swiglu"},
    "post-norm": {"norm_position": "post"},
    "encoder": {"architecture": "encoder-only"},
    "norms on both sides": {"norm_position": "both", "norm": "rms", "feed_forward": "geglu_tanh"},
    "parallel": {"residual": "parallel", "feed_forward": "silu"},
    "translator": {"architecture": "encoder-decoder", "feed_forward": "relu"},
    "post-norm translator": {"architecture": "encoder-decoder", "norm_position": "post", "feed_forward": "swiglu"},
}

every_kind = each("kind", list(KINDS))


def layers(kind: str) -> tuple[Trace, dict[str, FeedForwardWeights]]:
    stacks = weights_of(lively_model(**KINDS[kind])).stacks
    return traced(**KINDS[kind]), {site: one for stack in stacks.values() for site, one in stack.feed_forward.items()}


def test_the_functions_are_pytorchs() -> None:
    x = np.concatenate((np.linspace(-9, 9, 401), [-700.0, 0.0, 700.0]))
    theirs: dict[Any, Any] = {feed_forward.relu: F.relu, feed_forward.gelu: F.gelu, feed_forward.silu: F.silu}
    theirs[feed_forward.gelu_tanh] = partial(F.gelu, approximate="tanh")
    for ours, expected in theirs.items():
        np.testing.assert_allclose(ours(x), expected(torch.from_numpy(x)).numpy(), rtol=1e-12, atol=1e-12)


@every_kind
def test_what_the_layer_writes_and_every_sum_are_what_the_model_computed(kind: str) -> None:
    trace, every = layers(kind)
    for site, weights in every.items():
        found = feed_forward.parts(trace, site)
        for precision in (np.float32, np.float64):
            written = feed_forward.run(weights, found["x"].astype(precision))
            assert written.dtype == precision
            np.testing.assert_allclose(written, found["out"], atol=1e-4, err_msg=site)
        assert ("gate" in found) == (weights.W_gate is not None)
        if not kind.startswith("post-norm"):
            np.testing.assert_allclose(found["after"], trace[site.replace("mlp", "resid_post")], atol=1e-5)
    for site, weights in every.items():
        found = {part: values[2] for part, values in feed_forward.parts(trace, site).items()}
        for part, index in product(found.keys() & set(PARTS), (0, -1)):
            said = feed_forward.sum_of(weights, found, part, index % len(found[part]), n=5)
            assert (said is not None) == (part in ("gate", "pre", "out"))
            if said is None:
                continue
            if part != "out" or weights.out_norm is None:
                assert said.total + said.bias == pytest.approx(float(found[part][index]), abs=1e-4)
            assert said.total == pytest.approx(float((said.a * said.b).sum()) + said.others)
            assert len(said.indices) + said.n_others == (D_FF if part == "out" else D_MODEL)
            sizes = np.abs(said.a * said.b)
            assert (sizes[:-1] >= sizes[1:]).all()


def test_terms_are_named_by_their_places_and_shares_are_counted() -> None:
    trace, every = layers("gelu")
    weights = every["decoder.1.mlp"]
    found = {part: values[0] for part, values in feed_forward.parts(trace, "decoder.1.mlp").items()}
    said = feed_forward.sum_of(weights, found, "pre", 3)
    assert said is not None
    np.testing.assert_allclose(said.a, found["x"][said.indices])
    np.testing.assert_allclose(said.b, weights.W_in[said.indices, 3])
    assert feed_forward.strongest(np.array([0.1, -3.0, 2.0, 3.0, 0.0]), 3).tolist() == [1, 3, 2]
    trace, every = layers("relu")
    for site in every:
        np.testing.assert_allclose(feed_forward.share_on(trace, site), (trace[f"{site}.post"] > 0).mean(axis=-1))
    gated, every = layers("gated")
    for site in every:
        assert feed_forward.driver(gated, site) is gated[f"{site}.gate"]


def test_a_neurons_direction_is_what_the_logits_gain_without_a_norm() -> None:
    weights = layers("post-norm")[1]["decoder.1.mlp"]
    W_U = np.random.default_rng(0).standard_normal((VOCAB, D_MODEL))
    found = feed_forward.directions(weights, np.array([5, 0]), W_U)
    more = weights.W_out.sum(axis=0) + weights.W_out[5]
    np.testing.assert_allclose(found[0], W_U @ more - W_U @ weights.W_out.sum(axis=0), atol=1e-5)
    assert found.shape == (2, VOCAB)


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
