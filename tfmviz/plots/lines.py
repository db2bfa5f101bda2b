"""Lines: one number against another, several to a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, partial
from itertools import cycle
from typing import Any

import numpy as np

from tfmviz.constants import NO_NUMBER
from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    Chart,
    Columns,
    Spec,
    number,
    numbered,
    of_rows,
    reach,
    rows,
    specification,
    spots,
    strokes,
    words,
)
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.numbers import RAISED, decimal

MOST_POINTS = 400
"""Most points of a line that answer the pointer; on longer lines every second, third … does."""

AWAY: Spec = {"align": {"expr": "datum.side"}, "dx": {"expr": "datum.side === 'left' ? 5 : -5"}}
"""A word next to an upright line, on the side that the column `side` names."""

DASHES = ((1, 0), (7, 4), (2, 3), (8, 3, 2, 3), (8, 3, 2, 3, 2, 3), (2, 8))
"""Pixels drawn and left out; the first is an unbroken line."""

_POWER = "round(log(datum.value) / LN10)"
_WHOLE = f"abs(log(datum.value) / LN10 - {_POWER}) < 1e-6"
_WRITTEN = [f"10{str(power).translate(RAISED)}" for power in range(-20, 21)]
POWERS_OF_TEN = {
    "labelExpr": f"{_WHOLE} ? {_WRITTEN}[20 + {_POWER}] : ''",
    "gridOpacity": {"condition": {"test": _WHOLE, "value": 1}, "value": 0},
    "labelOverlap": "greedy",
}
"""A logarithmic axis with powers of ten as people write them, and no labels between them."""

_BELOW = "floor(log(datum.value) / LN10 + 1e-6)"
_TIMES = f"round(datum.value / pow(10, {_BELOW}))"
FIVES = POWERS_OF_TEN | {
    "labelExpr": f"indexof([1, 2, 5], {_TIMES}) < 0 ? '' : "
    f"({_TIMES} === 1 ? '' : {_TIMES} + '·') + {_WRITTEN}[20 + {_BELOW}]",
}
"""The same for an axis with few powers of ten: 2 and 5 times a power bear labels too."""

DOUBLINGS: Spec = {
    "tickCount": {"expr": "min(ceil(width / 80), 1 + log(domain('x')[1] / domain('x')[0]) / LN2)"},
    "labelOverlap": "greedy",
}
"""An axis each of whose steps doubles: with more ticks than doublings, these would be round numbers instead."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """The look of a line.

    Attributes:
        dash: one of `DASHES`.
        width: in pixels; 0 leaves the points without a line.
        dot: area of a point, in square pixels; 0 draws none, but the pointer still finds it.
    """

    colour: str
    dash: tuple[int, ...] = DASHES[0]
    width: float = 2.5
    dot: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line.

    Attributes:
        x, y: its points; where y is not finite, the line is broken.
        tooltips: text of a point under the pointer, from its x and y.
        smooth: x and y of a curve through the points; None: straight lines join them.
    """

    name: str
    x: Array
    y: Array
    stroke: Stroke
    tooltips: Callable[[float, float], str]
    smooth: tuple[Array, Array] | None = None


def named_lines(
    points: Mapping[str, tuple[Array, Array]],
    tooltips: Callable[[str, float, float], str],
    *,
    theme: Theme,
    dot: int = 0,
    strokes: Sequence[Stroke] = (),
) -> list[Line]:
    """Lines of different shades and dashes, which `strokes` replace.

    Args:
        tooltips: text of a point, from the name of its line, x and y.
    """
    looks = strokes or [
        Stroke(colour, dash, dot=dot) for colour, dash in zip(shades(len(points), theme), cycle(DASHES))
    ]
    return [
        Line(name, np.asarray(x, dtype=float), np.asarray(y, dtype=float), stroke, partial(tooltips, name))
        for (name, (x, y)), stroke in zip(points.items(), looks, strict=True)
    ]


def curves(
    points: Mapping[str, tuple[Array, Array]],
    axes: Axes,
    tooltips: Callable[[str, float, float], str],
    *,
    theme: Theme,
    dot: int = 70,
    words: Sequence[str] | None = None,
    **more: Any,
) -> Chart:
    """`line_chart` of `named_lines`, with their names at their ends: `words` may replace these, or be empty."""
    lines = named_lines(points, tooltips, theme=theme, dot=dot)
    return line_chart(lines, axes, theme=theme, words=list(points) if words is None else words, **more)


def over(
    x: Array, series: Mapping[str, Array], axes: Axes, *, theme: Theme, mark: tuple[float, str] | None = None
) -> Chart:
    """Several numbers along one axis, in four colours; after every four lines the dash changes.

    Args:
        x: (n,), increasing.
        series: name of each line to its numbers, (n,) or fewer.
        mark: a place on the x axis, and its words.
    """
    colours, dot = shades(min(4, len(series)), theme), 40 if len(x) <= 40 else 0
    strokes = [Stroke(colours[n % 4], DASHES[n // 4 % 4], 3, dot) for n in range(len(series))]
    points = {name: (x[: len(values)], values) for name, values in series.items()}

    def tooltips(name: str, at: float, value: float) -> str:
        return f"{name}, {axes.x} {at:g}: {decimal(value, '.4g')}"

    lines = named_lines(points, tooltips, theme=theme, strokes=strokes)
    return line_chart(lines, axes, theme=theme, marked=[mark] if mark else [])


def growth(
    costs: Mapping[str, tuple[Array, Array]],
    axes: Axes,
    tooltips: Callable[[float], str],
    *,
    theme: Theme,
    marked: Sequence[tuple[float, str]] = (),
) -> Chart:
    """Costs against a size, on logarithmic scales, where a power law is a straight line.

    Costs that are not finite and above 0 are left out; at least one has a point.

    Args:
        marked: sizes that get an upright line with a word.
    """
    size_of = axes.x.split(",")[0]
    fine = {name: np.isfinite(y) & (y > 0) for name, (_, y) in costs.items()}
    drawn = {name: (x[fine[name]], y[fine[name]]) for name, (x, y) in costs.items()}
    return curves(
        drawn,
        replace(axes, log=True, doubling=True),
        lambda name, size, cost: f"{name}, {size_of} {size:,.0f}: {tooltips(cost)}",
        theme=theme,
        dot=50,
        marked=marked,
        words=_joined(drawn),
    )


def _joined(drawn: Mapping[str, tuple[Array, Array]]) -> list[str]:
    """Lines that coincide share the first one's place."""
    words = {name: [name] for name in drawn}
    for n, (name, points) in enumerate(drawn.items()):
        for other in list(drawn)[:n]:
            if words[other] and all(map(np.array_equal, points, drawn[other])):
                words[other].append(name)
                words[name] = []
                break
    return ["\n= ".join(names) for names in words.values()]


@dataclass(frozen=True, slots=True)
class Axes:
    """Axes of a chart of lines.

    Attributes:
        log: the y axis counts in powers of ten.
        doubling: each step of the x axis doubles.
        power_law: both axes are logarithmic; x has many powers of ten, y few.
        fives: x has few powers of ten too, so that 2 and 5 times a power bear labels.
        percent: y is a share.
        legend: names stand above the chart.
    """

    x: str
    y: str
    height: int = 380
    _: KW_ONLY
    log: bool = False
    doubling: bool = False
    power_law: bool = False
    fives: bool = False
    percent: bool = False
    legend: bool = True


def line_chart(
    lines: Sequence[Line],
    axes: Axes,
    *,
    theme: Theme,
    y_range: tuple[float, float] | None = None,
    marked: Sequence[tuple[float, str]] = (),
    ends: Sequence[tuple[float, float, str]] = (),
    words: Sequence[str] = (),
) -> Chart:
    """Lines over a common axis.

    Args:
        y_range: the scale reaches at least these ends.
        marked: places on the x axis that get an upright line with a word.
        ends: x and y of places in the chart, often where lines end, and a word to the right of each.
        words: of each line, at its right end, or ""; they replace the legend.
    """
    names = numbered([line.name for line in lines])
    data: dict[str, Columns] = {"rows": _points(lines, names)}
    total = sum(len(line.x) for line in lines)
    if curves := total > MOST_POINTS or any(line.smooth for line in lines):
        data["curves"] = _curves(lines, names)
    if y_range:
        data["ends"] = {"y": list(y_range)}
    if marked:
        data["marks"] = _marks(lines, marked)
    if ends:
        data["stops"] = of_rows(ends, "x", "y", "word")
    if words:
        data["words"] = _at_the_ends(lines, names, words, axes, theme, y_range)
    counts = all(bool((line.x == np.round(line.x)).all()) for line in lines)
    longest = max(len(row) for label in words or [line.name for line in lines] for row in label.split("\n"))
    spec = _lines(theme, axes, tuple(line.stroke for line in lines), longest, counts, tuple(sorted(data)))
    return Chart(
        spec=spec, data=data, values=["curves" if curves and not any(line.smooth for line in lines) else "rows"]
    )


def _points(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    step = -(-sum(len(line.x) for line in lines) // MOST_POINTS)
    points = [
        (
            name,
            x,
            y,
            float(max(line.stroke.dot, 60)),
            float(line.stroke.dot > 0),
            line.stroke.width,
            line.tooltips(x, y) if math.isfinite(y) else NO_NUMBER,
        )
        for name, line in zip(names, lines, strict=True)
        for x, y in zip(line.x[::step].tolist(), line.y[::step].tolist(), strict=True)
    ]
    return of_rows(points, "line", "x", "y", "dot", "seen", "width", "hover")


def _curves(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    drawn = [line.smooth or (line.x, line.y) for line in lines]
    return {
        "line": [name for name, (x, _) in zip(names, drawn, strict=True) for _ in range(len(x))],
        "x": np.concatenate([x for x, _ in drawn]),
        "y": np.concatenate([y for _, y in drawn]),
        "width": np.repeat([line.stroke.width for line in lines], [len(x) for x, _ in drawn]),
    }


def _marks(lines: Sequence[Line], marked: Sequence[tuple[float, str]]) -> Columns:
    """Words stand on the side of their line that has more room."""
    middle = sum(float(end) for line in lines[:1] for end in (line.x[0], line.x[-1])) / 2
    places = [float(place) for place, _ in marked]
    return {
        "x": places,
        "word": [word for _, word in marked],
        "side": ["left" if place <= middle else "right" for place in places],
    }


def _at_the_ends(
    lines: Sequence[Line],
    names: Sequence[str],
    words: Sequence[str],
    axes: Axes,
    theme: Theme,
    y_range: tuple[float, float] | None,
) -> Columns:
    on_powers = axes.log or axes.power_law
    to_axis, from_axis = (np.log, np.exp) if on_powers else (np.asarray, np.asarray)
    found = []
    for line, name, word in zip(lines, names, words, strict=True):
        x, y = line.smooth or (line.x, line.y)
        seen = np.isfinite(y) & ((y > 0) | (not on_powers))
        if word and seen.any():
            found.append((name, float(x[seen][-1]), to_axis(y[seen]), word))
    if not found:
        return {"line": [], "x": [], "y": [], "word": []}
    known = np.concatenate([*(y for _, _, y, _ in found), to_axis(np.array(y_range or ()))])
    low, high = float(known.min()), float(known.max())
    row = (theme.letters + 5) / (axes.height - 70) * (high - low)
    heights = row * np.array([1 + word.count("\n") for *_, word in found])
    ends = np.array([y[-1] for _, _, y, _ in found])
    return {
        "line": [name for name, *_ in found],
        "x": [x for _, x, *_ in found],
        "y": from_axis(spread(ends, heights=heights, low=low, high=high)),
        "word": [word for *_, word in found],
    }


def spread(values: Array, *, heights: Array, low: float, high: float) -> Array:
    """The numbers next to the given ones, in squares, that keep their order and leave room for labels of `heights`.

    Without the distances between neighbours this is isotonic regression: numbers in the wrong order get their mean.
    Where there is too little room from `low` to `high`, they are less apart.
    """
    order = np.argsort(values, kind="stable")
    steps = np.cumsum(heights[order]) - heights[order] / 2
    steps = (steps - steps[0]) * min(1, (high - low) / max(steps[-1] - steps[0], 1e-9))
    pools: list[tuple[float, int]] = []  # mean, and of how many
    for value in (values[order] - steps).tolist():
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        pools.append((mean, count))
    placed = np.empty(len(values))
    placed[order] = np.clip(np.repeat(*map(np.array, zip(*pools, strict=True))), low, high - steps[-1]) + steps
    return placed


@cache
def _lines(
    theme: Theme, axes: Axes, looks: tuple[Stroke, ...], longest: int, counts: bool, data: tuple[str, ...]
) -> Spec:
    """The specification; where all x are whole numbers (`counts`), no label stands between them."""
    scale: dict[str, Any] = {"type": "log"} if axes.log or axes.power_law else {"nice": "ends" not in data}
    grid = {"gridColor": {"condition": {"test": "datum.value === 0", "value": theme.text}, "value": theme.grid}}
    in_words = "words" in data
    x = _along(axes, counts=counts, room=(longest + 1) * theme.letters // 2 if in_words else 0)
    axis = POWERS_OF_TEN if axes.log else grid | ({"format": "~%"} if axes.percent else {})
    y = number(alt.Y, "y", axes.y, axis=axis, **scale)
    colours, dashes = [look.colour for look in looks], [look.dash for look in looks]
    shade, dash = strokes("line", colours, dashes, longest=longest, legend=axes.legend and not in_words)
    line = rows("curves" if "curves" in data else "rows").mark_line(aria=False)
    seen: Spec = {"size": alt.Size("dot:Q", scale=None), "opacity": alt.Opacity("seen:Q", scale=None)}
    parts = {
        "ends": [reach(number(alt.Y, "y", axes.y))],
        "": [line.encode(x=x, y=y, color=shade, strokeDash=dash, strokeWidth=alt.StrokeWidth("width:Q", scale=None))],
        "marks": [
            rows("marks").mark_rule(color=theme.text, strokeDash=[6, 4], aria=False).encode(x=x),
            words(AWAY | {"baseline": "top", "lineBreak": "\n"}, "marks", x=x, y=alt.YValue(2)),
        ],
        "stops": [words({"align": "left", "dx": 8}, "stops", x=x, y=y)],
        "words": [
            words({"align": "left", "baseline": "middle", "dx": 6, "lineBreak": "\n"}, "words", x=x, y=y, color=shade)
        ],
    }
    layers = [layer for part, drawn in parts.items() if part in ("", *data) for layer in drawn]
    tooltips = f"Lines: {axes.y}, against {axes.x}."
    return specification(theme, *layers, spots({}, x=x, y=y, color=shade, **seen), height=axes.height, says=tooltips)


def _along(axes: Axes, *, counts: bool, room: int) -> alt.X:
    ends: dict[str, Any] = {"rangeMax": {"expr": f"width - {room}"}} if room else {}
    few: Spec = {"tickCount": {"expr": f"ceil((width - {room}) / 80)"}} if room else FEW
    if axes.power_law:
        return number(alt.X, "x", axes.x, axis=FIVES if axes.fives else POWERS_OF_TEN, type="log", **ends)
    if axes.doubling:
        return number(alt.X, "x", axes.x, axis=DOUBLINGS, type="log", base=2, **ends)
    return number(alt.X, "x", axes.x, axis=few | {"tickMinStep": 1} if counts else few, **ends or {"padding": 8})
