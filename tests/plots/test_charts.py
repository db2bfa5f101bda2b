"""What is true of every small chart, whatever it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import numpy as np
import pytest

from tests.plots.examples import CHARTS, ODD, PLAIN
from tfmviz.plots.charts import numbered
from tfmviz.plots.lines import MOST_POINTS
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.words.labels import visible

every_chart = pytest.mark.parametrize("name", CHARTS)
every_theme = pytest.mark.parametrize("theme", [pytest.param(LIGHT, id="light"), pytest.param(DARK, id="dark")])

EXPRESSIONS = ("expr", "labelExpr", "test", "filter", "calculate")


def entries(value: Any) -> Iterator[tuple[str, Any]]:
    """All keys of a specification with their values, at every depth."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        yield key, inner
        yield from entries(inner)
    for inner in value if isinstance(value, list | tuple) else ():
        yield from entries(inner)


@every_theme
@every_chart
def test_the_specification_is_valid_vega_lite(name: str, theme: Theme) -> None:
    alt.LayerChart.from_dict(CHARTS[name](theme, ODD).spec)


@every_theme
@every_chart
def test_another_sentence_of_the_same_shape_has_the_very_same_specification(name: str, theme: Theme) -> None:
    """Then the browser exchanges the data in place, and nothing that a reader writes can be part of it."""
    assert CHARTS[name](theme, ODD).spec is CHARTS[name](theme, PLAIN).spec


@every_chart
def test_nothing_that_a_reader_writes_is_part_of_the_specification(name: str) -> None:
    written = json.dumps(CHARTS[name](LIGHT, ODD).spec, ensure_ascii=False)
    assert "datum.evil" not in written
    assert not [token for token in ODD.tokens if len(token) > 4 and token in written]


@every_chart
def test_expressions_and_marks_load_nothing(name: str) -> None:
    spec = CHARTS[name](LIGHT, ODD).spec
    keys = {key for key, _ in entries(spec)}
    assert not keys & {"url", "href", "src", "format_url", "usermeta", "params", "transform"}
    assert "image" not in [value for key, value in entries(spec) if key == "type"]
    for key, expression in entries(spec):
        if key in EXPRESSIONS:
            assert not re.search(r"load|url|http|window|format\(", expression), expression


@every_chart
def test_every_field_is_a_column_of_its_data(name: str) -> None:
    chart = CHARTS[name](LIGHT, ODD)
    layers = [layer for layer in chart.spec["layer"] if "name" in layer["data"]]
    drawn = {layer["data"]["name"] for layer in layers}
    assert drawn == {"summary", *chart.data}
    for layer in (layer for layer in layers if layer["data"]["name"] != "summary"):
        columns = chart.data[layer["data"]["name"]]
        assert {value for key, value in entries(layer["encoding"]) if key == "field"} <= set(columns)


@every_chart
def test_columns_of_a_data_set_are_equally_long(name: str) -> None:
    for columns in CHARTS[name](LIGHT, ODD).data.values():
        assert len({len(column) for column in columns.values()}) == 1
        for column in columns.values():
            assert all(isinstance(value, str) for value in column) or np.isfinite(np.asarray(column, float)).all()


@every_theme
@every_chart
def test_letters_are_the_themes_and_large_enough_for_the_last_row(name: str, theme: Theme) -> None:
    spec = CHARTS[name](theme, ODD).spec
    assert min(size for key, size in entries(spec) if key.lower().endswith("fontsize")) >= 14
    config = spec["config"]
    assert config["background"] == "transparent"
    assert config["text"]["color"] == theme.text
    assert "fontSize" in config["text"]
    for part in ("axis", "legend"):
        assert config[part]["labelColor"] == config[part]["titleColor"] == theme.text
        assert {"labelFontSize", "titleFontSize"} <= set(config[part])


@every_chart
def test_a_chart_is_as_wide_as_the_page_and_says_what_it_is(name: str) -> None:
    spec = CHARTS[name](LIGHT, ODD).spec
    assert spec["width"] == "container"
    assert spec["description"].endswith(".")
    summary = spec["layer"][0]
    assert summary["data"] == {"name": "summary"}
    assert summary["encoding"]["description"]["field"] == "summary"


LOGARITHMIC = {
    "growth of costs": {"x", "y"},
    "lines in powers of ten": {"y"},
    "perplexities": {"y"},
    "cost": {"y"},
}
"""Axes of what grows by factors; all others count in equal steps from one number to the next."""


@every_chart
def test_only_what_grows_by_factors_has_a_logarithmic_axis(name: str) -> None:
    encodings = [layer.get("encoding", {}) for layer in CHARTS[name](LIGHT, ODD).spec["layer"]]
    scales = [(axis, encoding[axis].get("scale") or {}) for encoding in encodings for axis in "xy" if axis in encoding]
    assert {axis for axis, scale in scales if scale.get("type") == "log"} == LOGARITHMIC.get(name, set())


@every_chart
def test_what_is_pointed_at_says_a_sentence_to_eyes_and_to_screen_readers(name: str) -> None:
    chart = CHARTS[name](LIGHT, ODD)
    pointed = [layer for layer in chart.spec["layer"] if "tooltip" in layer.get("encoding", {})]
    assert pointed
    for layer in pointed:
        assert layer["encoding"]["tooltip"] == layer["encoding"]["description"] == {"field": "hover", "type": "nominal"}
        assert all(re.search(r"\d", str(said)) for said in chart.data[layer["data"]["name"]]["hover"])


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("pairs", "token"),
        ("looked", "token"),
        ("wrote", "token"),
        ("bars", "name"),
        ("ranked", "name"),
        ("spread", "norm"),
    ],
)
def test_repeated_tokens_stay_apart_in_their_order_and_nothing_is_markup(name: str, field: str) -> None:
    rows = CHARTS[name](LIGHT, ODD).data["rows"]
    column = list(dict.fromkeys(rows[field]))
    assert column == sorted(column)
    shown = ODD.tokens if name in ("bars", "ranked", "spread") else [visible(token) for token in ODD.tokens]
    assert [text.split(" ", 1)[1] for text in column] == list(shown)


def test_numbered_names_sort_as_they_are_counted() -> None:
    names = numbered(["x"] * 1200)
    assert names == sorted(names)
    assert len(set(names)) == 1200
    assert {name[5:] for name in names} == {"x"}, "the five characters that the axis drops"


def test_of_a_long_line_some_points_answer_the_pointer_and_all_are_drawn() -> None:
    data = CHARTS["many points"](LIGHT, ODD).data
    np.testing.assert_array_equal(data["curves"]["y"], ODD.numbers(1025))
    assert 0.5 * MOST_POINTS < len(data["rows"]["y"]) <= MOST_POINTS
    np.testing.assert_array_equal(data["rows"]["y"], ODD.numbers(1025)[np.array(data["rows"]["x"])])
