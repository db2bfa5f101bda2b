"""Several charts of lines, one below the other, over the same steps: what the pointer meets in one, all show.

See https://vega.github.io/vega-lite/docs/concat.html: Streamlit makes every part as wide as the page, and so the names
of the upright axes stand inside, to the left of the first step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    UNNUMBERED,
    Chart,
    Columns,
    Spec,
    hover,
    name,
    number,
    numbered,
    rows,
    strokes,
    summary,
)
from tfmviz.plots.lines import DASHES, POWERS_OF_TEN, Stroke
from tfmviz.plots.theme import Theme, chart_config, shades
from tfmviz.record.trace import Array

MOST_STEPS = 160
"""Most steps that answer the pointer; of longer runs every second, third … does."""

BESIDE_NAMES = 44
"""Pixels from the left that the names of an upright axis need: there the steps begin."""

ROOM = 0.15
"""Share of the axis that the word of a marked step needs."""

_AT = "at"
"""The step under the pointer, which all panels share."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Curve:
    """A line: a number at some steps of a run."""

    name: str
    steps: Array
    values: Array
    stroke: Stroke


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Panel:
    """One chart of the column.

    Attributes:
        title: what its lines show, with the unit.
        form: how its numbers are written, as in `format`.
        levels: heights that get a line across, with a word.
        log: its axis counts in powers of ten.
        low, high: what the axis shows at least.
        legend: whether the names of its lines stand above it.
        multiples: whether each line has a row of its own, on one scale for all, named at the left.
    """

    title: str
    curves: Sequence[Curve]
    form: str = ".2f"
    levels: Sequence[tuple[float, str]] = ()
    log: bool = False
    low: float | None = None
    high: float | None = None
    height: int = 130
    legend: bool = True
    multiples: bool = False


@dataclass(frozen=True, slots=True)
class _Axis:
    """The common axis of steps."""

    title: str
    log: bool
    marked: bool


@dataclass(frozen=True, slots=True)
class _Look:
    """What a panel's specification depends on."""

    title: str
    strokes: tuple[Stroke, ...]
    longest: int
    log: bool
    height: int
    legend: bool
    levels: bool
    multiples: bool


def panels(
    parts: Sequence[Panel],
    *,
    theme: Theme,
    log_steps: bool = False,
    marked: Sequence[tuple[float, str]] = (),
    x_title: str = "step",
) -> Chart:
    """Panels over a common axis of steps.

    Args:
        log_steps: the steps stand on a logarithmic axis; they then begin at 1.
        marked: steps with an upright line through all panels, and a word in the first; of lines that stand close
            together only the last has its word.
    """
    looks = tuple(
        _Look(
            title=part.title,
            strokes=tuple(curve.stroke for curve in part.curves),
            longest=max((len(curve.name) for curve in part.curves), default=0),
            log=part.log,
            height=part.height,
            legend=part.legend and len(part.curves) > 1,
            levels=bool(_levels(part)["y"]),
            multiples=part.multiples,
        )
        for part in parts
    )
    data: dict[str, Columns] = {}
    curves = [curve for part in parts for curve in part.curves]
    if marked:
        data["marks"] = _marks(curves, sorted(marked), log=log_steps)
    shared = _shared_steps(curves)
    for n, part in enumerate(parts):
        names = numbered([curve.name for curve in part.curves])
        data |= {f"lines{n}": _points(part, names), f"steps{n}": _said(part, shared)}
        data |= {f"levels{n}": _levels(part)} if looks[n].levels else {}
    axis = _Axis(title=x_title, log=log_steps, marked=bool(marked))
    return Chart(spec=_column(theme, looks, axis), data=data, values=[f"lines{n}" for n in range(len(parts))])


def _marks(curves: Sequence[Curve], marked: Sequence[tuple[float, str]], *, log: bool) -> Columns:
    """Words stand on the side of their line that has more room."""
    ends = [float(end) for curve in curves if len(curve.steps) for end in (curve.steps[0], curve.steps[-1])]
    steps = np.array([*(step for step, _ in marked), min(ends, default=0.0), max(ends, default=1.0)])
    *places, low, high = (np.log(np.maximum(steps, 1.0)) if log else steps).tolist()
    distances = np.diff([*places, math.inf])
    return {
        "x": steps[:-2],
        "word": [word if far > ROOM * (high - low) else "" for (_, word), far in zip(marked, distances, strict=True)],
        "side": ["left" if place <= (low + high) / 2 else "right" for place in places],
    }


def _shared_steps(curves: Sequence[Curve]) -> Array:
    """The steps that answer the pointer: those of the curve with most points, thinned."""
    longest = max((curve.steps for curve in curves), key=len, default=np.zeros(0))
    return np.asarray(longest[:: max(1, -(-len(longest) // MOST_STEPS))], dtype=float)


def _points(part: Panel, names: Sequence[str]) -> Columns:
    curves = part.curves
    return {
        "line": [name for name, curve in zip(names, curves, strict=True) for _ in range(len(curve.steps))],
        "x": np.concatenate([curve.steps for curve in curves]) if curves else [],
        "y": np.concatenate([curve.values for curve in curves]) if curves else [],
    }


def _said(part: Panel, steps: Array) -> Columns:
    """For each step what all lines of the panel are there: at their nearest point, if they reach so far."""
    rows = [[f"step {step:,.0f}"] for step in steps.tolist()]
    for curve in part.curves:
        if not len(curve.steps):
            continue
        nearest = np.abs(np.asarray(curve.steps)[None, :] - steps[:, None]).argmin(axis=1)
        for row, step, value in zip(rows, steps.tolist(), np.asarray(curve.values)[nearest].tolist(), strict=True):
            if curve.steps[0] <= step <= curve.steps[-1] and np.isfinite(value):
                row.append(f"{curve.name}: {format(value, part.form).replace('-', '−')}")
    return {"x": steps, "hover": ["; ".join(row) for row in rows]}


def _levels(part: Panel) -> Columns:
    levels = [(y, word) for y, word in part.levels if np.isfinite(y)]
    levels += [(y, "") for y in (part.low, part.high) if y is not None]
    return {
        "y": [y for y, _ in levels],
        "word": [word for _, word in levels],
        "seen": [float(bool(word)) for _, word in levels],
    }


@cache
def _column(theme: Theme, looks: tuple[_Look, ...], axis: _Axis) -> Spec:
    last, size = len(looks) - 1, theme.letters + 1
    title = {"anchor": "start", "fontSize": size, "fontWeight": "normal", "color": theme.text, "offset": 4}
    chart = alt.vconcat(
        *(_panel(theme, look, n, axis, last=n == last) for n, look in enumerate(looks)),
        description="Lines, one panel below the other: " + ", ".join(look.title for look in looks) + ".",
        padding={"left": 0, "right": 0, "top": 4, "bottom": 4},
        spacing=8,
        config=chart_config(theme) | {"title": title},
        resolve={"scale": {"x": "shared", "y": "independent", "color": "independent", "strokeDash": "independent"}},
    )
    spec = chart.to_dict(validate=False)
    over: dict[str, Any] = {"type": "point", "on": "pointerover", "clear": "pointerout"}
    return spec | {
        "params": [{"name": _AT, "select": over | {"fields": ["x"], "nearest": True}, "views": _called(spec)}]
    }


def _called(spec: Spec) -> list[str]:
    """Names of the layers of steps: Altair numbers them where there are several panels."""
    return [layer["name"] for view in spec["vconcat"] for layer in view["layer"] if "name" in layer]


def _panel(theme: Theme, look: _Look, n: int, axis: _Axis, *, last: bool) -> alt.LayerChart | alt.FacetChart:
    scale: dict[str, Any] = {"rangeMin": BESIDE_NAMES} | ({"type": "log"} if axis.log else {})
    below = FEW | {"labelFlush": True} if last else {"labels": False, "ticks": False}
    x = number(alt.X, "x", axis.title if last else None, axis=below, **scale)
    upwards: dict[str, Any] = {"type": "log"} if look.log else {"zero": False, "nice": True}
    y = number(alt.Y, "y", None, axis=_inside(look), **upwards)
    if look.multiples:
        short = f"replace({UNNUMBERED}, 'head ', '')"  # there is no room beside the lines for more
        along = {"grid": True, "bandPosition": 1, "labelExpr": short}
        y = name(alt.Y, "line", None, axis=_inside(look) | along, padding=0)
    layers = [
        *([summary()] if n == 0 else []),
        *(_level_layers(theme, n, y) if look.levels else []),
        _lines(look, n, x, y),
        *(_mark_layers(theme, x, with_words=n == 0) if axis.marked else []),
        _pointed(theme, n, x),
    ]
    return alt.layer(*layers, title=look.title, height=look.height)


def _inside(look: _Look) -> Spec:
    """Names of an upright axis beside its grid lines, inside the panel."""
    place = {"labelAlign": "right", "labelPadding": 6 - BESIDE_NAMES, "ticks": False, "domain": False}
    return place | {"tickCount": max(2, look.height // 40)} | (POWERS_OF_TEN if look.log else {})


def _lines(look: _Look, n: int, x: alt.X, y: alt.Y) -> alt.Chart:
    colours, dashes = [stroke.colour for stroke in look.strokes], [stroke.dash for stroke in look.strokes]
    shade, dash = strokes("line", colours, dashes, longest=look.longest, legend=look.legend)
    line = rows(f"lines{n}").mark_line(aria=False, strokeWidth=2).encode(x=x, y=y, color=shade, strokeDash=dash)
    if not look.multiples:
        return line
    scale = {"zero": True, "range": [look.height / len(look.strokes) - 1, 2]}
    along = alt.Order(field="x", type="quantitative")  # a line along names would be sorted by its height
    return line.encode(yOffset=alt.YOffset(field="y", type="quantitative", title=None, scale=scale), order=along)


def _level_layers(theme: Theme, n: int, y: alt.Y) -> list[alt.Chart]:
    line = rows(f"levels{n}").mark_rule(color=theme.text, strokeDash=[2, 3], strokeWidth=1.5, aria=False)
    word = rows(f"levels{n}").mark_text(align="left", baseline="bottom", dy=-2)
    across = {"x": alt.XValue(BESIDE_NAMES), "x2": alt.X2Value("width")}
    return [
        line.encode(**across, y=y, opacity=alt.Opacity("seen:Q", scale=None)),
        word.encode(x=alt.XValue(BESIDE_NAMES + 6), y=y, text=alt.Text("word:N")),
    ]


def _mark_layers(theme: Theme, x: alt.X, *, with_words: bool) -> list[alt.Chart]:
    marks = rows("marks")
    line = marks.mark_rule(color=theme.accent, strokeWidth=2, aria=False).encode(x=x)
    side: dict[str, Any] = {"align": {"expr": "datum.side"}, "dx": {"expr": "datum.side === 'left' ? 5 : -5"}}
    word = marks.mark_text(baseline="bottom", **side).encode(x=x, y=alt.YValue("height"), text=alt.Text("word:N"))
    return [line, word] if with_words else [line]


def _pointed(theme: Theme, n: int, x: alt.X) -> alt.Chart:
    """A line at the step under the pointer, in every panel; it says the numbers of the panel that the pointer is in."""
    line = rows(f"steps{n}", name="steps").mark_rule(color=theme.text, strokeWidth=1)
    seen = alt.OpacityValue(0, condition={"param": _AT, "value": 1, "empty": False})
    return line.encode(x=x, opacity=seen, **hover())


MOST_DRAWN = 400
"""A line has about so many points; a longer run is drawn with every second, third … step."""


def by_layer(heads: Sequence[str], theme: Theme) -> tuple[Stroke, ...]:
    """Strokes for heads: a colour for each layer, dashes for the heads in it."""
    layers = list(dict.fromkeys(_layer_of(head) for head in heads))
    colours = shades(len(layers), theme)
    found, seen = [], dict.fromkeys(layers, 0)
    for head in heads:
        layer = _layer_of(head)
        tint = colours[layers.index(layer)]
        found.append(Stroke(colour=tint, dash=DASHES[seen[layer] % len(DASHES)]))
        seen[layer] += 1
    return tuple(found)


def _layer_of(head: str) -> str:
    return head.rsplit(".", 1)[0]


def thinned(steps: Array, values: Array) -> tuple[Array, Array]:
    """About `MOST_DRAWN` points of a line, with the last one."""
    every = max(1, -(-len(steps) // MOST_DRAWN))
    kept = np.unique(np.r_[np.arange(0, len(steps), every), max(0, len(steps) - 1)])
    return (steps, values) if every == 1 else (steps[kept], values[kept])


def curves(lines: Mapping[str, tuple[Array, Array]], looks: Sequence[Stroke]) -> list[Curve]:
    """Lines by their names, each with its steps and values."""
    found = []
    for (run, line), stroke in zip(lines.items(), looks, strict=True):
        steps, values = thinned(*line)
        found.append(Curve(name=run, steps=steps, values=values, stroke=stroke))
    return found


def log_panels(
    columns: Mapping[str, Mapping[str, tuple[Array, Array]]],
    *,
    theme: Theme,
    levels: Sequence[tuple[float, str]] = (),
    heights: Sequence[int] = (230, 100, 100),
    marked: Sequence[tuple[float, str]] = (),
    bright: str = "",
) -> Chart:
    """What runs logged, a panel for each column, on one axis of steps.

    Args:
        columns: by the title of the panel, the lines by the names of the runs: steps and values.
        levels: heights in the first panel that get a line across, with a word.
        bright: the run that stands out from all others, which are grey; "" gives each a look of its own.
    """
    most = max(len(lines) for lines in columns.values())
    looks = [Stroke(tint, dash) for tint, dash in zip(shades(most, theme), cycle(DASHES))]
    if bright:
        columns = {title: _last(lines, bright) for title, lines in columns.items()}
        looks = [*[Stroke(theme.hatch)] * (most - 1), Stroke(theme.accent)]
    parts = [
        Panel(
            title=title,
            curves=curves(lines, looks[: len(lines)]),
            form=".2e" if "rate" in title else ".3g",
            levels=levels if n == 0 else (),
            low=0.0 if n == 0 else None,
            height=heights[min(n, len(heights) - 1)],
            legend=n == 0 and not bright,
        )
        for n, (title, lines) in enumerate(columns.items())
    ]
    return panels(parts, theme=theme, marked=marked)


def _last(lines: Mapping[str, tuple[Array, Array]], bright: str) -> dict[str, tuple[Array, Array]]:
    """The same lines, of which one is drawn above the others."""
    return {run: line for run, line in lines.items() if run != bright} | {bright: lines[bright]}


def forming(
    steps: Array,
    *,
    losses: Mapping[str, Array],
    heads: Mapping[str, Mapping[str, Array]],
    level: tuple[float, str],
    now: int,
    theme: Theme,
) -> Chart:
    """How heads form: losses above, then a panel for each measure of the heads, over steps on a logarithmic axis.

    Args:
        steps: (snapshot,).
        losses: (snapshot,) by what they are losses of, in nats.
        heads: by the title of a panel, the values (snapshot,) of each head by its name.
        level: the loss of pure chance, and a word for it.
        now: the step that is shown beside the chart.
    """
    first = (Stroke(colour=theme.plain, dash=DASHES[2]), Stroke(colour=theme.text))
    above = Panel(
        title="loss, nats per token",
        curves=curves({name: (steps, values) for name, values in losses.items()}, first[: len(losses)]),
        levels=[level],
        low=0.0,
        height=90,
    )
    parts = [above, *_of_heads(steps, heads, theme)]
    return panels(parts, theme=theme, log_steps=True, marked=[_shown(now)])


def head_panels(steps: Array, heads: Mapping[str, Mapping[str, Array]], *, now: int, theme: Theme) -> Chart:
    """Measures of the heads over steps on a logarithmic axis; see `forming`."""
    return panels(_of_heads(steps, heads, theme), theme=theme, log_steps=True, marked=[_shown(now)])


def _shown(now: int) -> tuple[float, str]:
    return float(now), f"step {now:,}"


def _of_heads(steps: Array, heads: Mapping[str, Mapping[str, Array]], theme: Theme) -> list[Panel]:
    """A panel for each measure; a head looks the same in all. More than six would cross: each has a row of its own."""
    names = list(dict.fromkeys(head for lines in heads.values() for head in lines))
    looks, many = dict(zip(names, by_layer(names, theme), strict=True)), len(names) > 6
    if many:
        looks = {head: replace(look, dash=DASHES[0]) for head, look in looks.items()}
    return [
        Panel(
            title=f"{title}, each row 0 to {max(map(np.nanmax, lines.values())):.2g}" if many else title,
            curves=curves({head: (steps, values) for head, values in lines.items()}, [looks[head] for head in lines]),
            low=None if many else 0.0,
            height=(theme.letters + 5) * len(lines) if many else 110,
            legend=n == 0 and not many,
            multiples=many,
        )
        for n, (title, lines) in enumerate(heads.items())
    ]
