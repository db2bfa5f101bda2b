"""What each small chart shows: its rows against numbers worked out by hand."""

import math
from typing import Any

import numpy as np
import pytest

from tfmviz.plots import bars, compare, dots, paths
from tfmviz.plots import columns as upright
from tfmviz.plots.bars import bar_chart, of_signs
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, curves, growth, line_chart, named_lines
from tfmviz.plots.pairs import differences, pairs
from tfmviz.plots.theme import DARK, LIGHT

TOKENS = ("<s>", "a", "a")


def columns(chart: Chart, *names: str, table: str = "rows") -> list[tuple[Any, ...]]:
    """Rows of a data set, of these columns."""
    return list(zip(*(chart.data[table][name] for name in names), strict=True))


def scale(chart: Chart, channel: str, mark: str) -> dict[str, Any]:
    """The scale of a channel of the layer with that mark."""
    layer = next(layer for layer in chart.spec["layer"] if layer["mark"]["type"] == mark)
    return dict(layer["encoding"][channel]["scale"])


def test_pairs_stand_side_by_side_for_every_token() -> None:
    one, other = np.array([0.2, 0.3, 0.5]), np.array([1.0, 0, 0])
    for theme in (LIGHT, DARK):
        chart = pairs(TOKENS, one, other, series=("soft", "hard"), title="share", theme=theme)
        assert columns(chart, "token", "series", "value") == [
            *(("0000 <s>", "0000 soft", 0.2), ("0001 a", "0000 soft", 0.3), ("0002 a", "0000 soft", 0.5)),
            *(("0000 <s>", "0001 hard", 1), ("0001 a", "0001 hard", 0), ("0002 a", "0001 hard", 0)),
        ]
        assert chart.data["rows"]["hover"][2] == "“a” (token 2), soft: 0.500"
        assert scale(chart, "color", "bar")["range"] == [theme.text, theme.plain]
        assert scale(chart, "y", "bar")["zero"]
    chart = pairs(["a"], np.array([0.0625]), np.array([1.0]), series=("x", "y"), title="p", percent=True, theme=LIGHT)
    assert chart.data["rows"]["hover"] == ["“a”, x: 6.25%", "“a”, y: 100.00%"]


def test_writes_stand_side_by_side_per_layer_with_their_shares_and_none_where_nothing_was_written() -> None:
    attention, mlp, shares = np.array([3.0, 0.5, 0.0]), np.array([1.0, 2.0, 0.0]), np.array([0.75, -0.2, math.nan])
    chart = upright.writes(attention, mlp, shares, theme=LIGHT)
    assert columns(chart, "layer", "series", "value", "word") == [
        *(("0000 0", "0000 attention", 3, "75%"), ("0001 1", "0000 attention", 0.5, "-20%")),
        *(("0002 2", "0000 attention", 0, ""), ("0000 0", "0001 MLP", 1, "")),
        *(("0001 1", "0001 MLP", 2, ""), ("0002 2", "0001 MLP", 0, "")),
    ]
    assert scale(chart, "color", "bar")["range"] == [LIGHT.attention, LIGHT.mlp]
    assert scale(chart, "y", "bar")["zero"] is True
    said = chart.data["rows"]["hover"]
    assert (said[4], said[5]) == ("layer 1, MLP: norm 2.00, 120% of the step", "layer 2, MLP: norm 0.00")


def test_bars_of_a_histogram_are_as_wide_as_their_bins_and_stand_on_nothing() -> None:
    chart = upright.histogram(np.array([-2.0, 0, 2]), np.array([0.2, 0.5, 0.3]), np.eye(3)[1], theme=LIGHT)
    assert columns(chart, "low", "high", "share")[:3] == [(-3, -1, 0.2), (-1, 1, 0.5), (1, 3, 0.3)]
    assert [share for (share,) in columns(chart, "share")[3:]] == [0, 1, 0]
    assert chart.data["rows"]["hover"][1] == "q · k near 0.00: 50.0% of the pairs"
    bar = next(layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "bar")
    assert bar["encoding"]["y2"] == {"datum": 0}, "without it each bar is a dash at its end"


def test_areas_and_differences_say_their_share_and_their_sign() -> None:
    chart = bars.areas({"attention": 30, "embedding": 10}, theme=LIGHT)
    assert chart.data["rows"]["hover"] == ["attention: 30 parameters, 75%", "embedding: 10 parameters, 25%"]
    words: dict[str, Any] = {"title": "B − A", "token_title": "word", "names": ["“a”", "“b”"], "theme": LIGHT}
    chart = differences(("a", "b"), np.array([1.0, 2.0]), np.array([0.25, 2.5]), **words)
    assert chart.data["rows"]["hover"] == ["“a”: 1.000 in A, 0.250 in B, −0.750", "“b”: 2.000 in A, 2.500 in B, +0.500"]


def test_bars_have_their_colours_and_words_and_room_for_these() -> None:
    for theme in (LIGHT, DARK):
        below, _, above = theme.signed
        for values, signs, ends in (([2.0, -0.5], [above, below], [-3, 3]), ([2.0, 0.5], [above] * 2, [0, 3])):
            colours = of_signs(np.array(values), theme)
            look: dict[str, Any] = {"words": ["+2", "x"], "colours": colours, "room": 1.5, "theme": theme}
            chart = bar_chart(["<a>", "b"], np.array(values), "added", **look)
            assert columns(chart, "name", "value", "colour", "hover") == [
                ("0000 <a>", values[0], signs[0], "<a>: +2"),
                ("0001 b", values[1], signs[1], "b: x"),
            ]
            assert chart.data["ends"]["x"] == ends


def test_a_look_and_its_effect_stand_one_above_the_other() -> None:
    shares, effect = np.array([0.5, 0.25, 0.25]), np.array([0.1, -0.2, 0.0])
    above, below = upright.looks(shares, effect, tokens=TOKENS, title="added", theme=LIGHT)
    assert columns(above, "token", "value", "hover")[0] == ("0000 <s>", 0.5, "looked at “<s>”: 50.0%")
    assert [role for (role,) in columns(below, "role")] == ["above", "below", "above"]
    assert columns(below, "token", "value", "hover")[1] == ("0001 a", -0.2, "added from “a” (token 1): −0.200")
    axes = [layer["encoding"]["y"]["axis"] for chart in (above, below) for layer in chart.spec["layer"][1:2]]
    assert axes[0]["minExtent"] == axes[0]["maxExtent"] == axes[1]["minExtent"] == axes[1]["maxExtent"]


# The sum: the second row goes on at 4, its parts lead 3 and 1 ahead and 5 back, the last begins at 3.
ALONG = np.array([4.0, 3, -5, 1, 2])
KINDS = ("embedding", "head", "head", "head", "MLP")
PARTS = ("<a>", "head 0", "head 1", "head 2", "MLP")
ROWS = ("embedding", "attention", "attention", "attention", "MLP")


def test_each_row_of_a_waterfall_begins_where_the_one_before_ended() -> None:
    for theme in (LIGHT, DARK):
        chart = bars.waterfall(ALONG, kinds=KINDS, names=PARTS, steps=ROWS, theme=theme)
        assert columns(chart, "step", "begin", "end", "kind") == [
            ("0000 embedding", 0, 4, "embedding"),
            ("0001 attention", 4, 7, "head"),
            ("0001 attention", 4, -1, "head"),
            ("0001 attention", 7, 8, "head"),
            ("0002 MLP", 3, 5, "MLP"),
        ]
        trail = [("0000 embedding", 4), ("0001 attention", 3), ("0002 MLP", 5)]
        assert columns(chart, "step", "end", table="trail") == trail
        assert [solid < 1 for (solid,) in columns(chart, "solid")] == [False, False, True, False, False]
        assert chart.data["rows"]["hover"][2] == "head 1: −5.00"
        colours = scale(chart, "color", "bar")
        means = dict(zip(colours["domain"], colours["range"], strict=True))
        assert means.items() >= {"head": theme.attention, "MLP": theme.mlp, "embedding": theme.vector}.items()


def test_lines_of_growth_are_the_tokens_the_mean_and_the_chosen_one() -> None:
    values = np.array([[7.0, 8, 9], [17, 18, 19], [27, 28, 30]])
    chart = paths.by_stage(values, stages=("x", "y", "z"), tokens=TOKENS, position=2, theme=LIGHT, top=100)
    found: dict[tuple[str, str], list[float]] = {}
    for line, kind, length in columns(chart, "line", "kind", "length"):
        found.setdefault((line, kind), []).append(length)
    assert found == {
        ("0000 “<s>”", "0000 all tokens"): [7, 17, 27],
        ("0001 “a” (token 1)", "0000 all tokens"): [8, 18, 28],
        ("0002 “a” (token 2)", "0000 all tokens"): [9, 19, 30],
        ("0003 mean", "0001 mean"): [8, 18, pytest.approx(85 / 3)],
        ("0004 “a” (token 2)", "0002 “a” (token 2)"): [9, 19, 30],
    }
    assert chart.data["ends"]["y"] == [0, pytest.approx(106)]
    assert [*chart.data["rows"]["stage"]][:3] == ["0000 x", "0001 y", "0002 z"]
    assert "“<s>”, y: norm 17.00" in chart.data["points"]["hover"]


def test_of_many_tokens_the_chosen_one_still_answers_the_pointer_at_every_stage() -> None:
    values = np.arange(25 * 64.0).reshape(25, 64)
    stages, tokens = [str(i) for i in range(25)], [str(i) for i in range(64)]
    points = paths.by_stage(values, stages=stages, tokens=tokens, position=5, theme=LIGHT).data["points"]
    seen = [length for length, seen in zip(points["length"], points["seen"], strict=True) if seen]
    assert seen == [*values.mean(axis=1), *values[:, 5]]
    assert len(points["length"]) <= 500


def test_parts_without_a_direction_are_left_out() -> None:
    cosines = np.array([math.nan, 0.5, -0.5, 0, 1])
    chart = dots.sizes(np.arange(5.0), cosines, kinds=KINDS, names=PARTS, theme=LIGHT)
    found = columns(chart, "size", "cosine", "kind")
    assert found == [(1, 0.5, "head"), (2, -0.5, "head"), (3, 0, "head"), (4, 1, "MLP")]
    assert chart.data["rows"]["hover"][1] == "head 1: norm 2.00, cosine −0.50"
    assert scale(chart, "color", "point")["domain"] == ["head", "MLP"], "the legend names what is there"


def test_a_curve_that_ends_before_the_others_says_so_and_one_that_stays_is_flat() -> None:
    curve = compare.Curve(name="a", x=np.arange(3), y=np.array([2, 2.000001, 2]), role="right")
    chart = compare.moving([curve], theme=LIGHT)
    assert np.ptp(np.array(chart.data["ends"]["y"], dtype=float)) > 0.9
    assert columns(chart, "x", "y")[2] == (2, 2)
    short = compare.Curve(name="short", x=np.arange(5.0), y=np.arange(5.0), role="other")
    long = compare.Curve(name="long", x=np.arange(11.0), y=np.arange(11.0), role="left")
    chart = compare.losses([short, long], trained=5, theme=LIGHT)
    assert columns(chart, "x", "word", table="marks") == [(4.5, "trained on 5 positions")]
    assert columns(chart, "word", table="stops") == [("short ends",)]
    assert columns(chart, "x", "word", table="words") == [(10, "long")]
    assert scale(chart, "color", "line")["range"] == [LIGHT.plain, LIGHT.text]
    assert "short, position 3: 3.00 nats" in chart.data["rows"]["hover"]


def test_lines_run_between_their_points_and_look_as_their_strokes_say() -> None:
    x, at = np.linspace(0, 2, 5), np.arange(3.0)
    line = Line("wave", at, np.array([0.0, 1, 0]), Stroke("red"), "{:g}: {:g}".format, (x, np.sin(x * np.pi / 2)))
    chart = line_chart([line], Axes("x", "y"), theme=LIGHT)
    assert columns(chart, "x", "y", "hover") == [(0, 0, "0: 0"), (1, 1, "1: 1"), (2, 0, "2: 0")]
    assert [place for (place,) in columns(chart, "x", table="curves")] == x.tolist()
    strokes = Stroke("red", width=0, dot=40), Stroke("blue", DASHES[1])
    points = dict.fromkeys(("now", "then"), (at, np.ones(3)))
    lines = named_lines(points, "{} {:g} {:g}".format, theme=LIGHT, strokes=strokes)
    chart = line_chart(lines, Axes("x", "y"), theme=LIGHT)
    assert set(columns(chart, "line", "width", "seen")) == {("0000 now", 0, 1), ("0001 then", 2.5, 0)}
    assert scale(chart, "strokeDash", "line")["range"] == [[1, 0], [7, 4]]
    assert scale(chart, "color", "line")["range"] == ["red", "blue"]


def test_costs_that_lie_on_one_another_share_a_word_and_what_is_none_is_left_out() -> None:
    x, cost = np.array([1.0, 2, 4]), np.array([np.nan, 3, 0])
    chart = growth({"a": (x, cost), "b": (x, cost), "c": (x, x)}, Axes("tokens, n", "s"), "{:g} s".format, theme=LIGHT)
    assert columns(chart, "line", "x", "hover")[:2] == [
        ("0000 a", 2, "a, tokens 2: 3 s"),
        ("0001 b", 2, "b, tokens 2: 3 s"),
    ]
    assert columns(chart, "word", table="words") == [("a\n= b",), ("c",)]


def test_hands_point_at_their_positions() -> None:
    angles = np.array([0.0, 1, 2])
    chart = dots.circle(np.stack((np.sin(angles), np.cos(angles)), axis=1), start=0, shift=2, theme=LIGHT)
    assert columns(chart, "x", "y", "word", table="hands") == [
        (1, 0, "0"),
        (pytest.approx(np.cos(2)), pytest.approx(np.sin(2)), "2"),
    ]
    assert chart.data["rows"]["hover"][1] == f"position 1: sine {np.sin(1):.4f}, cosine {np.cos(1):.4f}"


def test_waves_are_told_by_their_dimensions_at_every_position() -> None:
    table = np.arange(16.0).reshape(4, 4) / 100
    chart = paths.waves(table, (1, 0), np.array([6.0, 60]), at=(1, 3), theme=LIGHT)
    frequency = {0: "frequency 1.047, wavelength 6", 1: "frequency 0.1047, wavelength 60"}
    expected = [f"dim {j} at {x}: {table[x, j]:.4g}, {frequency[j // 2]}" for j in (2, 3, 0, 1) for x in range(4)]
    assert [word for name in chart.data for word in chart.data[name].get("hover", ())] == expected
    read = [f"{table[x, j]:+.2f}" for x in (1, 3) for j in (2, 3, 0, 1)]
    assert any(list(column) == read for columns in chart.data.values() for column in columns.values())
    lines = {str(line)[5:] for columns in chart.data.values() for line in columns.get("line", ())}
    assert lines == {f"dim {j}" for j in range(4)}


def test_heads_that_are_off_lie_on_top_and_keep_their_numbers() -> None:
    names = [f"{n}.0" for n in range(7)]
    lost = np.linspace(0.7, 0.1, 7)
    chart = dots.scatter(
        np.linspace(0.2, 0.8, 7), lost, names=names, tooltips=names, off=[1], title="lost", theme=LIGHT
    )
    found = columns(chart, "x", "y", "role", "word")
    assert found[-1] == (pytest.approx(0.3), pytest.approx(0.6), "off", "1.0")
    assert [role for *_, role, _ in found] == ["on"] * 6 + ["off"]
    np.testing.assert_allclose([x + y for x, y, *_ in found], 0.9)
    assert chart.data["rows"]["hover"][-1] == "1.0"


def test_points_lie_in_a_square_and_boxes_reach_from_quarter_to_quarter() -> None:
    values = np.array([[0.0, 10], [4, 10], [2, 30]])
    chart = dots.on_one_scale(values, names="123", tooltips="123", link=(0, 2), titles=("a", "b"), theme=LIGHT)
    assert columns(chart, "x", "y", "role") == [(0, 10, "linked"), (4, 10, "other"), (2, 30, "linked")]
    assert columns(chart, "x", "y", table="link") == [(0, 10), (2, 30)]
    assert columns(chart, "x", "y", "reach", table="frame") == [(2, 20, pytest.approx(11.6))]
    chart = upright.boxes(np.array([[0.0, 1, 2, 3, 4]]), names=["<1>"], title="γ", usual=1, theme=LIGHT)
    assert columns(chart, "norm", "low", "first", "median", "third", "high") == [("0000 <1>", 0, 1, 2, 3, 4)]
    whisker, box, middle = chart.spec["layer"][1:4]
    assert (whisker["encoding"]["y"]["field"], whisker["encoding"]["y2"]["field"]) == ("low", "high")
    assert (box["encoding"]["y"]["field"], box["encoding"]["y2"]["field"]) == ("first", "third")
    assert middle["encoding"]["y"]["field"] == "median"
    assert chart.spec["layer"][4]["encoding"]["y"]["datum"] == 1


def test_on_an_axis_of_powers_a_word_stands_where_its_line_is_drawn() -> None:
    """One token has no attention that could lie elsewhere: there is no line, and no word for one."""
    x = np.array([16.0, 64])
    points = {"a": (x, np.array([0.5, np.nan])), "b": (x, np.full(2, np.nan))}
    chart = curves(points, Axes("x", "y", log=True), "{} {:g} {:g}".format, theme=LIGHT)
    assert columns(chart, "x", "y", "word", table="words") == [(16, 0.5, "a")]
    assert np.isnan(np.array(chart.data["rows"]["y"])).sum() == 3
