"""What the explorer computes in a browser, against numpy."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from playwright.sync_api import Page
from plotly.colors import sample_colorscale, unlabel_rgb

from tests import traces
from tests.traces import causal, decoder, read_payload, words
from tests.views.standalone import CROSS, LENGTH, TRACE, Standalone
from tfmviz import views
from tfmviz.analysis.rollout import rollout
from tfmviz.record.trace import Array

pytestmark = pytest.mark.browser


def weights_of(page: Page, kind: int, layer: int, what: str | int) -> tuple[Array, Array]:
    """Weights and mask as the browser has them."""
    found = page.evaluate(
        """([kind, layer, what]) => {
          const {mask, weights} = insides.explorer.attention.matrix(kind, layer, what);
          return [mask.rows, mask.columns, [...weights], [...mask.allowed]];
        }""",
        [kind, layer, what],
    )
    rows, columns, weights, allowed = found
    return np.array(weights).reshape(rows, columns), np.array(allowed, dtype=bool).reshape(rows, columns)


def test_the_browser_reads_every_weight_as_it_was_written(standalone: Standalone) -> None:
    for trace in (TRACE, CROSS, decoder(words(1), layers=1, heads=1)):
        page = standalone.open(trace, insides=True)
        header, masks, weights = read_payload(views.payload(trace))
        for k, kind in enumerate(header["kinds"]):
            for n, layer in enumerate(kind["layers"]):
                for head in range(kind["heads"]):
                    found, allowed = weights_of(page, k, n, head)
                    np.testing.assert_allclose(found, weights[layer["name"]][head], atol=1e-7)
                    np.testing.assert_array_equal(allowed, masks[layer["name"]])


def test_means_and_rollout_equal_numpys(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    patterns = [TRACE[f"{layer}.pattern"] for layer in TRACE.layers]
    masks = [TRACE[f"{layer}.mask"] for layer in TRACE.layers]
    expected = {
        (1, "mean"): patterns[1].mean(axis=0),
        (0, "all"): np.mean([p.mean(axis=0) for p in patterns], axis=0),
        (0, "rollout"): rollout(patterns[:1], masks[:1])[0],
        (2, "rollout"): rollout(patterns, masks)[0],
    }
    for (layer, what), weights in expected.items():
        np.testing.assert_allclose(weights_of(page, 0, layer, what)[0], weights, atol=0.0006)


def test_rollout_reaches_through_a_narrow_mask(standalone: Standalone) -> None:
    """Each token may look at itself and the one before: after three layers it has heard of the three before it."""
    page = standalone.open(insides=True)
    length = 7
    band = causal(length) & ~np.tri(length, k=-2, dtype=bool)
    layers = [traces.pattern(1, band, seed=seed)[0] for seed in range(3)]
    found = page.evaluate(
        """([allowed, layers, length]) => {
          const {weights, reached} = insides.rollout(layers.map((weights) => ({mask: {allowed}, weights})), length);
          return [[...weights], [...reached]];
        }""",
        [band.ravel().astype(int).tolist(), [layer.ravel().tolist() for layer in layers], length],
    )
    mixed, reached = rollout([layer[None] for layer in layers], [band] * 3)
    np.testing.assert_allclose(np.array(found[0]).reshape(length, length), mixed, atol=1e-6)
    np.testing.assert_array_equal(np.array(found[1], dtype=bool).reshape(length, length), reached)
    np.testing.assert_array_equal(reached, np.tri(length, dtype=bool) & ~np.tri(length, k=-4, dtype=bool))


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


def test_filters(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    weights = TRACE["decoder.1.self_attn.pattern"][2]
    limits = ((100, 0), (80, 0), (1, 0), (100, 0.15), (90, 0.05))
    for without_first, (top, least) in itertools.product((False, True), limits):
        found = page.evaluate(
            """([weights, length, filters]) => {
              const mask = {rows: length, columns: length};
              return [...insides.filtered({mask, weights: Float32Array.from(weights)}, filters).weights];
            }""",
            [weights.ravel().tolist(), LENGTH, {"withoutFirst": without_first, "top": top, "least": least}],
        )
        expected = filtered(weights, without_first=without_first, top=top, least=least)
        np.testing.assert_allclose(np.array(found).reshape(LENGTH, LENGTH), expected, atol=1e-6)


def test_the_strongest_lines_are_kept(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    pattern = TRACE["decoder.0.self_attn.pattern"]
    found = page.evaluate(
        """([matrices, length, count]) => {
          const mask = {rows: length, columns: length};
          const given = matrices.map((weights) => ({mask, weights: Float32Array.from(weights)}));
          const {found, left} = insides.strongest(given, count);
          return [found.map(({n, row, column, weight}) => [n, row, column, weight]), left];
        }""",
        [[head.ravel().tolist() for head in pattern], LENGTH, 20],
    )
    lines, left = found
    assert len(lines) == 20
    assert left == (pattern > 0).sum() - 20
    for n, row, column, weight in lines:
        assert weight == pytest.approx(pattern[n, row, column])
    smallest = min(weight for *_, weight in lines)
    assert (pattern > smallest + 1 / 1024).sum() <= 20


def test_thumbnails_show_the_largest_weight_of_every_cell(standalone: Standalone) -> None:
    for length, side in ((5, 31), (31, 31), (97, 31), (97, 5)):
        trace = decoder(words(length), layers=1, heads=2)
        rows, values = standalone.open(trace, insides=True).evaluate(
            """(side) => {
              const {rows, values} = insides.explorer.attention.tile(0, 0, 1, side);
              return [rows, [...values]];
            }""",
            side,
        )
        size = min(length, side)
        assert rows == size
        pattern = trace["decoder.0.self_attn.pattern"][1]
        cell = np.arange(length) * size // length
        largest = np.full((size, size), -1.0)
        for q, k in np.argwhere(causal(length)):
            largest[cell[q], cell[k]] = max(largest[cell[q], cell[k]], pattern[q, k])
        found = np.array(values).reshape(size, size)
        np.testing.assert_array_equal(found == 255, largest < 0)
        shown, true = (found / 254) ** 2, largest.clip(0)
        assert np.abs(np.where(largest < 0, 0, shown - true)).max() < 0.01


def test_the_ramp_is_cividis(standalone: Standalone) -> None:
    ramp = np.array(standalone.open(insides=True).evaluate("insides.RAMP"))
    cividis = [unlabel_rgb(colour) for colour in sample_colorscale("cividis", np.linspace(0, 1, 256))]
    assert np.abs(ramp - np.array(cividis)).max() <= 2


def test_what_a_link_says_is_what_it_was_made_from(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    state = {
        **{"heads": [{"layer": 0, "head": 2}, {"layer": 0, "head": 0}], "pin": {"side": "key", "at": 5}},
        **{"aggregate": "mean", "withoutFirst": True, "top": 80},
        **{"least": 0.02, "scale": "row", "order": "previous token"},
    }
    look = page.evaluate("(state) => insides.toLook({...insides.initial(), ...state})", state)
    assert re.fullmatch(r"[a-z0-9:,. -]{0,300}", look)
    assert page.evaluate("(look) => insides.fromLook(look)", look) == state
    assert page.evaluate("insides.toLook(insides.initial())") == ""


def test_a_senseless_link_leaves_a_sensible_state(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    read = "insides.fitted({...insides.initial(), ...insides.fromLook(look)}, insides.explorer.attention)"
    for look in ("", ",,,", "heads:99.x.-1,pin:k9999,top:1e9,least:-3,scale:no,show:<b>,order:no"):
        state = page.evaluate(f"(look) => {read}", look)
        assert state["heads"] in ([{"layer": 0, "head": 0}], [{"layer": 0, "head": 2}])
        assert state["pin"] is None
        assert (state["aggregate"], state["scale"], state["order"]) == ("heads", "root", "place")
        assert 1 <= state["top"] <= 100
        assert 0 <= state["least"] <= 1


def test_an_answer_to_an_older_report_does_not_undo_a_touch_that_is_not_reported_yet(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    layers, reports = page.evaluate(
        """async () => {
          const {explorer} = insides, reports = [], layers = [];
          explorer.page.report = (selection) => reports.push(selection);
          const answer = (selection) => explorer.select({...selection, look: ""});
          const later = () => new Promise((done) => setTimeout(done, 600));
          explorer.change({heads: [{layer: 1, head: 0}]}, {rest: true});
          await later();
          explorer.change({heads: [{layer: 2, head: 0}]}); // a slider on its way
          answer(reports[0]);
          layers.push(explorer.state.layer);
          await later();
          answer(reports[1]);
          layers.push(explorer.state.layer);
          explorer.change({heads: [{layer: 1, head: 0}]});
          explorer.change({heads: [{layer: 2, head: 0}]}); // back again: nothing to report
          await later();
          answer({...reports[1], layer: 0}); // Python chose something else since
          layers.push(explorer.state.layer);
          return [layers, reports.map(({layer, sequence}) => [layer, sequence])];
        }"""
    )
    assert reports == [[1, 1], [2, 2]]
    assert layers == [2, 2, 0]
