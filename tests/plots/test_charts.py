"""What is true of every small chart, whatever it shows."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import altair as alt
import numpy as np

from tests.plots.examples import CHARTS, ODD, PLAIN
from tfmviz.plots.charts import Chart, numbered
from tfmviz.plots.lines import MOST_POINTS
from tfmviz.plots.theme import DARK, LIGHT
from tfmviz.words.labels import visible

LOADING = {"url", "href", "src", "format_url", "usermeta", "params", "transform"}
EXPRESSIONS = ("expr", "labelExpr", "test", "filter", "calculate")


def entries(value: Any) -> Iterator[tuple[str, Any]]:
    """All keys of a specification with their values, at every depth."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        yield key, inner
        yield from entries(inner)
    for inner in value if isinstance(value, list | tuple) else ():
        yield from entries(inner)


@cache
def charts() -> dict[str, Chart]:
    """Every chart, of a sentence that holds what could be taken for something else."""
    return {name: make(LIGHT, ODD) for name, make in CHARTS.items()}


def test_the_specification_is_valid_and_the_same_for_another_sentence_of_the_same_shape() -> None:
    """Then the browser exchanges the data in place, and nothing that a reader writes can be part of it."""
    for name, make in CHARTS.items():
        for theme in (DARK, LIGHT):
            spec = make(theme, ODD).spec
            assert spec is make(theme, PLAIN).spec, name
        alt.LayerChart.from_dict(spec)  # the dark one has other colours, and takes as long


def test_nothing_that_a_reader_writes_is_part_of_the_specification_and_it_loads_nothing() -> None:
    for name, chart in charts().items():
        written = json.dumps(chart.spec, ensure_ascii=False)
        assert not [token for token in (*ODD.tokens, "datum.evil") if len(token) > 4 and token in written], name
        found = [*entries(chart.spec)]
        assert not {key for key, _ in found} & LOADING, name
        assert ("type", "image") not in [(key, value) for key, value in found if isinstance(value, str)]
        run = [expression for key, expression in found if key in EXPRESSIONS]
        assert not [one for one in run if re.search(r"load|url|http|window|format\(", one)], name


def test_every_field_is_a_column_of_its_data_and_columns_are_equally_long() -> None:
    for name, chart in charts().items():
        layers = [layer for layer in chart.spec["layer"] if "name" in layer["data"]]
        assert {layer["data"]["name"] for layer in layers} == {"summary", *chart.data}, name
        for layer in (layer for layer in layers if layer["data"]["name"] != "summary"):
            columns = chart.data[layer["data"]["name"]]
            assert {value for key, value in entries(layer["encoding"]) if key == "field"} <= set(columns), name
        for columns in chart.data.values():
            assert len({len(column) for column in columns.values()}) == 1, name
            for column in columns.values():
                assert all(isinstance(value, str) for value in column) or np.isfinite(np.asarray(column, float)).all()


def test_letters_are_the_themes_and_large_enough_for_the_last_row() -> None:
    for name, make in CHARTS.items():
        for theme in (LIGHT, DARK):
            spec = make(theme, ODD).spec
            assert min(size for key, size in entries(spec) if key.lower().endswith("fontsize")) >= 14, name
            config = spec["config"]
            assert config["background"] == "transparent"
            assert config["text"]["color"] == theme.text
            assert "fontSize" in config["text"]
            for part in ("axis", "legend"):
                assert config[part]["labelColor"] == config[part]["titleColor"] == theme.text
                assert {"labelFontSize", "titleFontSize"} <= set(config[part])


def test_a_chart_is_as_wide_as_the_page_and_says_what_it_is() -> None:
    for name, chart in charts().items():
        assert chart.spec["width"] == "container", name
        assert chart.spec["description"].endswith("."), name
        summary = chart.spec["layer"][0]
        assert summary["data"] == {"name": "summary"}
        assert summary["encoding"]["description"]["field"] == "summary"


def test_what_is_pointed_at_says_a_sentence_to_eyes_and_to_screen_readers() -> None:
    for name, chart in charts().items():
        pointed = [layer for layer in chart.spec["layer"] if "tooltip" in layer.get("encoding", {})]
        assert pointed, name
        for layer in pointed:
            said = {"field": "hover", "type": "nominal"}
            assert layer["encoding"]["tooltip"] == layer["encoding"]["description"] == said, name
            hover = chart.data[layer["data"]["name"]]["hover"]
            assert name == "map" or all(re.search(r"\d", str(said)) for said in hover), name


def test_repeated_tokens_stay_apart_in_their_order_and_nothing_is_markup() -> None:
    tokens = [visible(token) for token in ODD.tokens]
    shown = {"pairs": tokens, "looked": tokens, "wrote": tokens} | dict.fromkeys(("bars", "boxes"), ODD.tokens)
    for name, names in shown.items():
        rows = charts()[name].data["rows"]
        column = list(dict.fromkeys(rows[{"bars": "name", "boxes": "norm"}.get(name, "token")]))
        assert column == sorted(column), name
        assert [text.split(" ", 1)[1] for text in column] == list(names), name


def test_numbered_names_sort_as_counted_and_of_a_long_line_some_points_answer() -> None:
    names = numbered(["x"] * 1200)
    assert names == sorted(names)
    assert len(set(names)) == 1200
    assert {name[5:] for name in names} == {"x"}, "the five characters that the axis drops"
    data = charts()["many points"].data
    np.testing.assert_array_equal(data["curves"]["y"], ODD.numbers(1025))
    assert 0.5 * MOST_POINTS < len(data["rows"]["y"]) <= MOST_POINTS
    np.testing.assert_array_equal(data["rows"]["y"], ODD.numbers(1025)[np.array(data["rows"]["x"], dtype=int)])


def test_a_negative_number_under_the_pointer_has_a_minus() -> None:
    hyphens = {
        (name, hover)
        for name, chart in charts().items()
        for table in chart.data.values()
        for hover in map(str, table.get("hover", ()))
        if re.search(r"[:,]? -\d", hover)
    }
    assert not hyphens
