"""Panels over a common axis: valid, exchangeable in place, and true to their numbers."""

import itertools
import json

import altair as alt
import numpy as np

from tfmviz.plots import panels
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import spread
from tfmviz.plots.panels import BESIDE_NAMES, MOST_STEPS
from tfmviz.plots.theme import DARK, LIGHT, Theme

STEPS = np.array([1.0, 10, 100, 1000])


def logs(theme: Theme, *, seed: int, n: int = 7, levels: tuple[tuple[float, str], ...] = ((6.9, "chance"),)) -> Chart:
    rng = np.random.default_rng(seed)
    lines = {name: (np.arange(1.0, n + 1), rng.standard_normal(n)) for name in ("<b>one</b>", "datum.evil']")}
    return panels.log_panels({"loss": lines, "learning rate": lines}, theme=theme, levels=levels)


def forming(theme: Theme, *, seed: int) -> Chart:
    rng = np.random.default_rng(seed)
    return panels.forming(
        STEPS,
        losses={"first time": rng.random(4), "second time": rng.random(4)},
        heads={"induction": {"head 0.0": rng.random(4), "head 1.0": rng.random(4)}},
        level=(3.0, "chance"),
        now=100,
        theme=theme,
    )


def test_the_specification_is_valid_and_does_not_change_with_the_numbers() -> None:
    for make, theme in itertools.product((logs, forming), (LIGHT, DARK)):
        one, other = make(theme, seed=1), make(theme, seed=2)
        assert one.spec is other.spec
        alt.VConcatChart.from_dict(one.spec)
        written = json.dumps(one.spec)
        assert "evil" not in written
        assert "<b>" not in written
        named = {layer["data"]["name"] for view in one.spec["vconcat"] for layer in view["layer"]}
        assert named == {"summary", *one.data}
        for columns in one.data.values():
            assert len({len(column) for column in columns.values()}) == 1
            assert all(len(column) for column in columns.values())  # Vega warns of an axis without numbers


def test_the_lines_are_the_numbers_and_a_step_says_them() -> None:
    columns = forming(LIGHT, seed=3).data["lines1"]
    rng = np.random.default_rng(3)
    rng.random(8)
    np.testing.assert_array_equal(columns["y"], rng.random(8))
    np.testing.assert_array_equal(columns["x"], [*STEPS, *STEPS])
    assert columns["line"] == ["0000 head 0.0"] * 4 + ["0001 head 1.0"] * 4
    steps = np.array([1.0, 2, 3])
    lines = {"quite-long": (steps, np.array([0.5, np.nan, -0.25])), "short": (steps[:2], np.array([4.0, 3.0]))}
    said = panels.log_panels({"loss": lines}, theme=LIGHT).data["steps0"]["hover"]
    assert list(said) == ["step 1; quite-long: 0.5; short: 4", "step 2; short: 3", "step 3; quite-long: −0.25"]


def test_of_more_than_six_heads_each_has_a_row_on_the_scale_of_all() -> None:
    rng = np.random.default_rng(0)
    heads = {"induction": {f"head {n // 4}.{n % 4}": rng.random(4) for n in range(7)}}
    chart = panels.head_panels(STEPS, heads, now=100, theme=LIGHT)
    alt.VConcatChart.from_dict(chart.spec)
    (line,) = [layer["encoding"] for layer in chart.spec["vconcat"][0]["layer"] if layer["data"]["name"] == "lines0"]
    assert (line["y"]["field"], line["yOffset"]["field"]) == ("line", "y")
    assert line["yOffset"]["scale"]["zero"]
    np.testing.assert_array_equal(chart.data["lines0"]["y"], np.concatenate(list(heads["induction"].values())))


def test_a_long_run_is_thinned_and_no_step_stands_on_the_numbers() -> None:
    chart = logs(LIGHT, seed=0, n=4000)
    x = np.asarray(chart.data["lines0"]["x"], dtype=float)
    assert x.max() == 4000
    assert len(x) <= 2 * (panels.MOST_DRAWN + 1)
    assert len(chart.data["steps0"]["x"]) <= MOST_STEPS
    for make in (logs, forming):
        layers = [layer["encoding"] for view in make(LIGHT, seed=1).spec["vconcat"] for layer in view["layer"]]
        steps = [encoding["x"] for encoding in layers if "field" in encoding.get("x", {})]
        assert steps
        assert all(x["scale"]["rangeMin"] == BESIDE_NAMES for x in steps)


def test_all_panels_point_at_one_step_and_one_alone_at_its_own() -> None:
    """Altair numbers names where there are several; a parameter of a view that there is not stops the chart."""
    alone = panels.log_panels({"loss": {"one": (np.arange(1.0, 5), np.arange(4.0))}}, theme=LIGHT)
    for chart, n in ((forming(LIGHT, seed=0), 2), (alone, 1)):
        (parameter,) = chart.spec["params"]
        named = [layer["name"] for view in chart.spec["vconcat"] for layer in view["layer"] if "name" in layer]
        assert parameter["views"] == named
        assert len(named) == n


def test_a_bright_run_lies_on_all_others() -> None:
    lines = {name: (np.arange(1.0, 6), np.arange(5.0)) for name in "abcdefg"}
    chart = panels.log_panels({"loss": lines}, theme=LIGHT, bright="c")
    drawn = list(dict.fromkeys(chart.data["lines0"]["line"]))
    assert [name[5:] for name in drawn] == list("abdefgc")
    colours = [
        layer["encoding"]["color"]["scale"]["range"]
        for view in chart.spec["vconcat"]
        for layer in view["layer"]
        if "color" in layer["encoding"]
    ]
    assert [colour.count(LIGHT.accent) for colour in colours] == [1]
    assert colours[0][-1] == LIGHT.accent


def test_names_are_moved_as_little_as_keeps_them_apart() -> None:
    rng = np.random.default_rng(0)
    for values, heights in zip(rng.random((20, 7)), rng.choice([0.1, 0.2], (20, 7)), strict=True):
        placed = spread(values, heights=heights, low=-9.0, high=9.0)
        order = np.argsort(values)
        least = (heights[order][1:] + heights[order][:-1]) / 2
        assert (np.diff(placed[order]) >= least - 1e-9).all()
        cost = ((placed - values) ** 2).sum()
        for other in placed + rng.normal(scale=0.05, size=(300, 7)):  # no other allowed places are nearer
            assert (np.diff(other[order]) < least).any() or ((other - values) ** 2).sum() >= cost - 1e-9
        apart = np.sort(spread(values, heights=np.full(7, 9.0), low=0.0, high=1.0))
        np.testing.assert_allclose(apart, np.linspace(0, 1, 7))
