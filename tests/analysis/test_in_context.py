"""Cosines of one word in two places, against arithmetic of our own and laws."""

from __future__ import annotations

import numpy as np
import pytest

import tfmviz
from tests.each import each
from tfmviz.analysis.in_context import again, in_context

TEXT = "He left the house on the left."


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@each("name, stack", [("tiny-english", "decoder"), ("fill-in", "encoder")])
def test_every_cosine_is_that_of_two_recorded_vectors(name: str, stack: str) -> None:
    model = tfmviz.load(name)
    trace = model.trace(TEXT)
    ids = trace.target.ids
    first, second = pair = [at for at, token in enumerate(trace.tokens) if token.strip() == "left"]
    found = in_context(trace, stack, ids, (first, second))
    streams = [trace[f"{stack}.0.resid_pre"]]
    streams += [trace[f"{stack}.{n}.resid_post"] for n in range(model.config.n_layers)]
    rows = [model.weights.W_E[ids[at]] for at in pair]
    for stage, x in enumerate(streams):
        x = x.astype(float)
        assert found.each_other[stage] == pytest.approx(cosine(x[first], x[second]), abs=1e-6)
        for side, at in enumerate(pair):
            assert found.static[side, stage] == pytest.approx(cosine(x[at], rows[side]), abs=1e-5)
        others = [cosine(a, b) for i, a in enumerate(x) for j, b in enumerate(x) if ids[i] != ids[j]]
        assert found.usual[stage] == pytest.approx(np.mean(others), abs=1e-6)


def test_a_word_without_a_position_begins_as_its_embedding() -> None:
    model = tfmviz.load("tiny-english")  # which rotates queries and keys, and adds no positions
    trace = model.trace(TEXT)
    found = in_context(trace, "decoder", trace.target.ids, (1, 6))
    np.testing.assert_allclose([found.each_other[0], *found.static[:, 0]], 1, atol=1e-6)


def test_one_token_twice_has_no_other_to_compare_with() -> None:
    trace = tfmviz.load("tiny-english").trace("the the")
    assert np.isnan(in_context(trace, "decoder", (5, 5), (0, 1)).usual).all()


@each("at, other", [(0, 2), (2, 3), (3, 0), (1, None)])
def test_the_same_token_again(at: int, other: int | None) -> None:
    assert again((7, 8, 7, 7), at) == other
