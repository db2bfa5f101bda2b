"""Cosines of one word in two places, against arithmetic of our own and laws."""

import numpy as np
import pytest

import tfmviz
from tests.cases import each
from tfmviz.analysis.in_context import again, in_context

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
