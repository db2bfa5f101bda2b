"""Lengths of the stream, who wrote how much of a step, and cosines of one word in two places."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import tfmviz
from tests.cases import each
from tests.model.sizes import K_LENGTH, LENGTH, N_LAYERS
from tests.records import encoding, traced, without
from tfmviz.analysis.in_context import again, in_context
from tfmviz.analysis.residual import closest, in_space, likeness, stream
from tfmviz.record.facts import Architecture
from tfmviz.record.trace import Array, NotCaptured, Trace

STACKS: list[tuple[Architecture, str]] = [("decoder-only", "decoder"), ("encoder-only", "encoder")]
STACKS += [("encoder-decoder", "encoder"), ("encoder-decoder", "decoder")]
every_stack = each("architecture, stack", STACKS)


def lengths(vectors: Array) -> list[float]:
    """Length of each row, by Python's own function."""
    return [math.hypot(*vector) for vector in vectors.tolist()]


def written_to_the_stream(trace: Trace, block: str) -> tuple[Array, Array]:
    """What attention and the feed-forward layer added to a pre-norm stream, read off the stream itself."""
    middle = "resid_cross" if f"{block}.resid_cross" in trace else "resid_mid"
    before, between, after = (trace[f"{block}.{at}"].astype(float) for at in ("resid_pre", middle, "resid_post"))
    return between - before, after - between


def offered_to_the_norm(trace: Trace, block: str) -> tuple[Array, Array]:
    """What the layers of a post-norm block write, before the norms."""
    sites = [f"{block}.{name}.out" for name in ("self_attn", "cross_attn")]
    attention = sum(trace[site].astype(float) for site in sites if site in trace)
    return np.asarray(attention), trace[f"{block}.mlp.out"].astype(float)


@each("norm_position", ["pre", "post"])
@every_stack
def test_norms_writes_and_shares_are_the_streams(architecture: Architecture, stack: str, norm_position: str) -> None:
    trace = traced(architecture, norm_position=norm_position)
    measured = stream(trace, stack)
    length = K_LENGTH if (architecture, stack) == ("encoder-decoder", "encoder") else LENGTH
    assert measured.norms.shape == (N_LAYERS + 1, length)
    sites = ["0.resid_pre", *(f"{layer}.resid_post" for layer in range(N_LAYERS))]
    for row, site in zip(measured.norms, sites, strict=True):
        assert row.tolist() == pytest.approx(lengths(trace[f"{stack}.{site}"]), rel=1e-5)
    for layer in range(N_LAYERS):
        parts = written_to_the_stream if norm_position == "pre" else offered_to_the_norm
        attention, mlp = parts(trace, f"{stack}.{layer}")
        assert measured.attention[layer].tolist() == pytest.approx(lengths(attention), rel=1e-4)
        assert measured.mlp[layer].tolist() == pytest.approx(lengths(mlp), rel=1e-4)
        whole, share = attention + mlp, measured.attention_share[layer][:, None]
        squared = (whole * whole).sum(axis=-1)
        for write, part in ((attention, share), (mlp, 1 - share)):
            np.testing.assert_allclose(((write - part * whole) * whole).sum(axis=-1) / squared, 0, atol=1e-5)


@each("part", [0.0, 5.0])
def test_where_nothing_is_written_there_is_no_share(part: float) -> None:
    x, write = np.array([[1.0, 2.0, 2.0]]), np.array([[part, 0, 0]])
    values = {"resid_pre": x, "self_attn.out": write, "mlp.out": -write, "resid_post": x}
    one_step = Trace(target=encoding([3]), values={f"decoder.0.{name}": value for name, value in values.items()})
    with np.errstate(all="raise"):
        measured = stream(one_step, "decoder")
    assert np.isnan(measured.attention_share).all()
    assert measured.norms.tolist() == [[3], [3]]


PARTS = ("resid_post", "self_attn.out", "cross_attn.out", "mlp.out")
READ = ["decoder.0.resid_pre", *(f"decoder.{layer}.{name}" for layer in range(N_LAYERS) for name in PARTS)]


@each("site", READ)
def test_a_site_that_the_measure_needs_is_never_passed_over(site: str) -> None:
    with pytest.raises(NotCaptured, match=site):
        stream(without(traced("encoder-decoder"), site), "decoder")


def test_the_closest_vector_has_torchs_largest_cosine_and_no_stack_is_invented() -> None:
    trace = traced()
    with pytest.raises(NotCaptured, match="resid_post"):
        stream(without(trace, *(site for site in trace if site.endswith(".resid_post"))), "decoder")
    for there, stack in ((trace, "encoder"), (traced("encoder-only"), "decoder")):
        with pytest.raises(NotCaptured, match=stack):
            stream(there, stack)
    vectors = np.random.default_rng(3).normal(size=(9, 5))
    for token in range(9):
        cosines = F.cosine_similarity(torch.tensor(vectors[token]), torch.tensor(vectors))
        cosines[token] = -2
        near, cosine = closest(vectors, token)
        assert near == int(cosines.argmax())
        assert cosine == pytest.approx(float(cosines.max()))


def test_three_directions_keep_what_numpy_s_own_decomposition_keeps() -> None:
    trace = traced("decoder-only")
    sites = [f"decoder.{n}.resid_post" for n in range(N_LAYERS)]
    found = in_space(trace, sites)
    vectors = np.concatenate([trace[site] for site in sites]).astype(float)
    _, sizes, directions = np.linalg.svd(vectors - vectors.mean(axis=0))
    expected = (vectors - vectors.mean(axis=0)) @ directions[:3].T
    places = found.places.reshape(-1, 3)
    np.testing.assert_allclose(np.abs(places), np.abs(expected), atol=1e-6)
    np.testing.assert_allclose(found.shares, (sizes**2 / (sizes**2).sum())[:3], rtol=1e-5)
    assert (places[np.abs(places).argmax(axis=0), [0, 1, 2]] > 0).all()
    one_place = in_space(replace(trace, values=dict.fromkeys(sites, np.ones((LENGTH, 2)))), sites)
    assert np.allclose(one_place.places, 0)
    assert np.allclose(one_place.shares, 0)


def test_likeness_is_the_mean_cosine_of_two_different_tokens() -> None:
    trace, sites = traced("decoder-only"), ["decoder.0.resid_pre", "decoder.1.resid_post"]
    pairs = [(i, j) for i in range(LENGTH) for j in range(i)]
    for found, site in zip(likeness(trace, sites), sites, strict=True):
        vectors = torch.from_numpy(trace[site]).double()
        cosines = [F.cosine_similarity(vectors[i], vectors[j], dim=0).item() for i, j in pairs]
        assert found == pytest.approx(sum(cosines) / len(pairs))


TEXT = "He left the house on the left."


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@each("name, stack", [("tiny-english", "decoder"), ("fill-in", "encoder")])
def test_every_cosine_is_that_of_two_recorded_vectors(name: str, stack: str) -> None:
    model = tfmviz.load(name)
    trace = model.trace(TEXT)
    ids = trace.target.ids
    first, second = (at for at, token in enumerate(trace.tokens) if token.strip() == "left")
    found = in_context(trace, stack, ids, (first, second))
    sites = [f"{stack}.0.resid_pre", *(f"{stack}.{n}.resid_post" for n in range(model.config.n_layers))]
    for stage, x in enumerate(trace[site].astype(float) for site in sites):
        assert found.each_other[stage] == pytest.approx(cosine(x[first], x[second]), abs=1e-6)
        for side, at in enumerate((first, second)):
            assert found.static[side, stage] == pytest.approx(cosine(x[at], model.weights.W_E[ids[at]]), abs=1e-5)
        others = [cosine(a, b) for i, a in enumerate(x) for j, b in enumerate(x) if ids[i] != ids[j]]
        assert found.usual[stage] == pytest.approx(np.mean(others), abs=1e-6)


def test_a_word_without_a_position_begins_as_its_embedding_and_one_token_has_none_to_compare_with() -> None:
    model = tfmviz.load("tiny-english")  # which rotates queries and keys, and adds no positions
    trace = model.trace(TEXT)
    found = in_context(trace, "decoder", trace.target.ids, (1, 6))
    np.testing.assert_allclose([found.each_other[0], *found.static[:, 0]], 1, atol=1e-6)
    trace = tfmviz.load("tiny-english").trace("the the")
    assert np.isnan(in_context(trace, "decoder", (5, 5), (0, 1)).usual).all()
    assert [again((7, 8, 7, 7), at) for at in range(4)] == [2, None, 3, 0]
