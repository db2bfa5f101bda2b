"""What the explorer computes in a browser, against numpy."""

from __future__ import annotations

import base64
import itertools
from typing import Any

import numpy as np
import pytest

from tests import traces
from tests.node import call
from tests.traces import causal, decoder, read_payload, words
from tests.views.standalone import CROSS, LENGTH, TRACE
from tfmviz import views
from tfmviz.analysis.rollout import rollout
from tfmviz.record.trace import Array, Trace


def attention(trace: Trace, asked: str) -> Any:
    """What the browser says when it has read a trace, which is called `a`."""
    read = "((a) => %s)(new module.Attention(Uint8Array.from(atob(given), (c) => c.charCodeAt(0))))"
    return call("explorer/payload.ts", read % asked, base64.b64encode(views.payload(trace)).decode())


def test_the_browser_reads_every_weight_as_it_was_written() -> None:
    asked = """a.kinds.flatMap(({ heads, layers }, k) => layers.map(({ name }, n) =>
        [name, [...a.mask(k, n).allowed], Array.from({ length: heads }, (_, h) => [...a.matrix(k, n, h).weights])]))"""
    for trace in (TRACE, CROSS, decoder(words(1), layers=1, heads=1)):
        _, masks, weights = read_payload(views.payload(trace))
        found = attention(trace, asked)
        assert {name for name, _, _ in found} == weights.keys()
        for name, allowed, heads in found:
            np.testing.assert_array_equal(np.array(allowed, bool), masks[name].ravel())
            np.testing.assert_allclose(heads, weights[name].reshape(len(heads), -1), atol=1e-7)


def test_means_and_rollout_equal_numpys() -> None:
    patterns = [TRACE[f"{layer}.pattern"] for layer in TRACE.layers]
    masks = [TRACE[f"{layer}.mask"] for layer in TRACE.layers]
    expected = {
        (1, "mean"): patterns[1].mean(axis=0),
        (0, "all"): np.mean([p.mean(axis=0) for p in patterns], axis=0),
        (0, "rollout"): rollout(patterns[:1], masks[:1])[0],
        (2, "rollout"): rollout(patterns, masks)[0],
    }
    for (layer, what), weights in expected.items():
        found = attention(TRACE, f"[...a.matrix(0, {layer}, {what!r}).weights]")
        np.testing.assert_allclose(found, weights.ravel(), atol=0.0006)


def test_rollout_reaches_through_a_narrow_mask() -> None:
    """Each token may look at itself and the one before: after three layers it has heard of the three before it."""
    length = 7
    band = causal(length) & ~np.tri(length, k=-2, dtype=bool)
    layers = [traces.pattern(1, band, seed=seed)[0] for seed in range(3)]
    given = [{"mask": {"allowed": band.ravel().tolist()}, "weights": layer.ravel().tolist()} for layer in layers]
    asked = f"((found) => [[...found.weights], [...found.reached]])(module.rollout(given, {length}))"
    weights, reached = call("explorer/weights.ts", asked, given)
    mixed, expected = rollout([layer[None] for layer in layers], [band] * 3)
    np.testing.assert_allclose(weights, mixed.ravel(), atol=1e-6)
    np.testing.assert_array_equal(np.array(reached, bool), expected.ravel())
    np.testing.assert_array_equal(expected, causal(length) & ~np.tri(length, k=-4, dtype=bool))


def filtered(weights: Array, *, without_first: bool, top: float, least: float) -> Array:
    """The filters, row by row, by sorting and summing in another way than the browser."""
    kept = weights.astype(float).copy()
    if without_first:
        kept[:, 0] = 0
        sums = kept.sum(axis=1, keepdims=True)
        kept = np.divide(kept, sums, where=sums > 0, out=kept)
    for row in kept:
        order = np.argsort(-row, kind="stable")
        before = np.concatenate([[0], np.cumsum(row[order])[:-1]])
        row[order[before >= top / 100 * row.sum()]] = 0 if top < 100 else row[order[before >= top / 100 * row.sum()]]
    return np.where(kept >= least, kept, 0)


MATRICES = """given.matrices.map((weights) =>
    ({ mask: { rows: given.length, columns: given.length }, weights: Float32Array.from(weights) }))"""


def test_filters() -> None:
    weights = TRACE["decoder.1.self_attn.pattern"][2]
    given: dict[str, Any] = {"matrices": [weights.ravel().tolist()], "length": LENGTH}
    limits = ((100, 0), (80, 0), (1, 0), (100, 0.15), (90, 0.05))
    for without_first, (top, least) in itertools.product((False, True), limits):
        given["filters"] = {"withoutFirst": without_first, "top": top, "least": least}
        found = call("explorer/weights.ts", f"[...module.filtered({MATRICES}[0], given.filters).weights]", given)
        expected = filtered(weights, without_first=without_first, top=top, least=least)
        np.testing.assert_allclose(found, expected.ravel(), atol=1e-6)


def test_the_strongest_lines_are_kept() -> None:
    pattern = TRACE["decoder.0.self_attn.pattern"]
    given = {"matrices": [head.ravel().tolist() for head in pattern], "length": LENGTH}
    found = call("explorer/weights.ts", f"module.strongest({MATRICES}, 20)", given)
    lines = [(line["n"], line["row"], line["column"]) for line in found["found"]]
    assert len({*lines}) == 20
    assert found["left"] == (pattern > 0).sum() - 20
    weights = [line["weight"] for line in found["found"]]
    assert weights == pytest.approx([pattern[line] for line in lines])
    assert (pattern > min(weights) + 1 / 1024).sum() <= 20


def test_thumbnails_show_the_largest_weight_of_every_cell() -> None:
    for length, side in ((5, 31), (31, 31), (97, 31), (97, 5)):
        trace = decoder(words(length), layers=1, heads=2)
        size = min(length, side)
        found = np.array(attention(trace, f"[...a.tile(0, 0, 1, {side}).values]")).reshape(size, size)
        pattern = trace["decoder.0.self_attn.pattern"][1]
        cell = np.arange(length) * size // length
        largest = np.full((size, size), -1.0)
        for q, k in np.argwhere(causal(length)):
            largest[cell[q], cell[k]] = max(largest[cell[q], cell[k]], pattern[q, k])
        np.testing.assert_array_equal(found == 255, largest < 0)
        assert np.abs(np.where(largest < 0, 0, (found / 254) ** 2 - largest)).max() < 0.01
