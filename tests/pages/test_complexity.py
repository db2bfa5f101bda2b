"""The page on complexity: its numbers against formulas written anew, and what it makes of measurements."""

import json
import re

import numpy as np
import pytest

from tests.app import charts, open_page, sent, series, words
from tfmviz import zoo
from tfmviz.analysis.complexity import MEASURED
from tfmviz.analysis.multiplications import in_model
from tfmviz.model.layer_costs import LENGTHS, WIDTHS
from tfmviz.ui import background
from tfmviz.ui.shapes import shapes_of
from tfmviz.words.numbers import per_cent

PAGE = "complexity"
Patch = pytest.MonkeyPatch


def table(**address: str) -> dict[str, list[str]]:
    return {name: cells for name, *cells in sent(open_page(PAGE, **address), "table")["rows"]}


def test_the_table_is_filled_in_with_the_readers_sizes_and_a_row_opens_its_derivation() -> None:
    rows = table(size_n="256", size_d="64", size_k="3", size_r="16")
    assert rows["self-attention"][1:] == ["1", "1", "8.39 million"]  # 2 · 256² · 64
    assert rows["recurrent"][1:] == ["256", "256", "2.1 million"]  # 2 · 256 · 64²
    assert rows["convolution"][1:] == ["1", "6", "3.15 million"]  # 3 · 256 · 64², 3⁶ ≥ 256
    assert rows["restricted attention"][1:] == ["1", "16", "524,288"]  # 2 · 16 · 256 · 64
    less = {(256, 64): "n > d, so a recurrent layer is cheaper: self-attention needs 4 times"}
    less |= {(64, 512): "n < d, so self-attention is cheaper: a recurrent layer needs 8 times"}
    less |= {(128, 128): "equally many multiplications. Restricted attention needs 50% of those of full attention."}
    for (n, d), said in less.items():
        assert said in words(open_page(PAGE, size_n=str(n), size_d=str(d)))
    assert "hᵢ = f(W xᵢ + U hᵢ₋₁)" in words(open_page(PAGE, row="recurrent"))
    app = open_page(PAGE, row="<b>")
    assert "meets each of n keys" in words(app)
    offered = {key: list(map(int, app.select_slider(key=f"size_{key}").options)) for key in "ndkr"}
    assert all(size % 2 for size in offered.pop("k")), "every kernel has a token in its middle"
    assert all(size.bit_count() == 1 for sizes in offered.values() for size in sizes)


def test_the_parts_of_a_model_are_counted_on_the_sentence() -> None:
    text = "The cat sat on the mat."
    for name, over in (("tiny-english", "1,024"), ("twins-attention-only", None)):
        app, model = open_page(PAGE, cost="Where the multiplications go", model=name, text=text), zoo.load(name)
        n = len(model.encode(text).tokens)
        counts = in_model(shapes_of(model.config), source=0, target=n)
        shown = series(charts(app)["parts"], "value", by="name")
        np.testing.assert_allclose([1e6 * value for (value,) in shown.values()], list(counts.values()), rtol=1e-6)
        assert f"({per_cent(counts['scores'] / sum(counts.values()))})" in json.dumps(charts(app)["parts"]["tables"])
        said = re.search(r"overtake the feed-forward layers at \*\*n = ([\d,]+)\*\*", words(app))
        assert (said and said[1]) == over


def record(name: str, against: str, size: int, seconds: float) -> background.Found:
    n, d = (size if against == axis else usual for axis, usual in (("n", 512), ("d", 128)))
    measured = {"share": 0.5, "seconds": seconds, "bytes": 8 * size * size}
    return {"on": "cpu", "name": name, "against": against, "n": n, "d": d, **measured}


def put(monkeypatch: Patch, *found: background.Found) -> None:
    """Makes the page believe that this has been measured."""
    monkeypatch.setattr(background.Measurement, "found", property(lambda self: found))


def test_before_anything_is_measured_the_counts_stand_there() -> None:
    app = open_page(PAGE, cost="Measured")
    assert set(charts(app)) == {"counted"}
    lines = series(charts(app)["counted"])
    assert set(lines) == {kind.name for kind in MEASURED}
    np.testing.assert_allclose(lines["self-attention"], [2 * n * n * 128 for n in LENGTHS])
    by_width = series(charts(open_page(PAGE, cost="Measured", against="d"))["counted"])
    np.testing.assert_allclose(by_width["recurrent"], [2 * 512 * d * d for d in WIDTHS])
    assert app.button(key="measure_layer_costs").label.startswith("Measure on this server")


def test_fitted_exponents_crossings_and_the_fused_kernel_stand_there_as_far_as_was_measured(monkeypatch: Patch) -> None:
    found = []
    for n in LENGTHS:
        found += [record("self-attention", "n", n, 1e-8 * n**2), record("recurrent", "n", n, 3e-6 * n)]
        found += [record("fused self-attention", "n", n, 0.25e-8 * n**2)]
    # Pairs are compared as far as both were measured: plain attention alone is measured beyond.
    put(monkeypatch, *found, record("self-attention", "n", 8192, 9.0), record("convolution", "n", 64, 1e-5))
    said = words(open_page(PAGE, cost="Measured"))
    assert f"At n = {LENGTHS[-1]:,} the fused kernel needs" in said
    assert "takes 4.0 times less time" in said
    assert "time than a recurrent layer from n ≈ 300. " in said
    for share, sentence in ((1.5, "takes 1.5 times less time"), (1, "At n = 4,096 the fused kernel saves no time")):
        pair = record("self-attention", "n", 4096, share), record("fused self-attention", "n", 4096, 1)
        put(monkeypatch, record("self-attention", "n", 64, 1e-5), record("fused self-attention", "n", 64, 1), *pair)
        assert sentence in words(open_page(PAGE, cost="Measured"))
    put(monkeypatch, record("restricted attention", "d", 64, 1), record("self-attention", "d", 64, 1))
    columns = open_page(PAGE, cost="Measured", what="memory", against="d").table[0].value
    assert columns["grows as d to the power"].tolist() == ["0", "0 to 1"]
    put(monkeypatch, *found)
    app = open_page(PAGE, cost="Measured")
    assert set(charts(app)) == {"counted", "measured"}
    rows = app.table[0].value.to_numpy().tolist()
    assert ["self-attention", "2", "2.00", "2.62 ms", "168 ms", "10.7 s"] in rows
    assert ["recurrent", "1", "1.00", "1.54 ms", "12.3 ms", "98.3 ms"] in rows
    assert "self-attention takes more time than a recurrent layer from n ≈ 300" in words(app)
    assert "takes 4.0 times less time" in words(app)
    put(monkeypatch, record("self-attention", "n", 64, 1e-5))
    for address in ({}, {"against": "d"}, {"what": "memory"}, {"what": "memory", "against": "d"}):
        assert ("measured" in charts(open_page(PAGE, cost="Measured", **address))) == ("against" not in address)


def test_the_sentence_is_marked_at_the_length_of_what_was_typed() -> None:
    text = "Je ne sais pas du tout ce que tu veux dire par là, mon cher ami."
    app = open_page(PAGE, cost="Where the multiplications go", model="french-english", text=text)
    trace = zoo.load("french-english").trace(text)
    assert trace.source is not None
    assert charts(app)["growing"]["tables"]["marks"]["x"][0] == len(trace.source) != len(trace.target)
