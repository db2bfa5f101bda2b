"""Several charts of lines, one below the other, over the same steps: all show the step under the pointer.

See https://vega.github.io/vega-lite/docs/concat.html: Streamlit makes every part as wide as the page, so the labels of
the upright axes stand inside, to the left of the first step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
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
    words,
)
from tfmviz.plots.lines import AWAY, DASHES, Stroke
from tfmviz.plots.theme import Theme, chart_config, shades
from tfmviz.record.trace import Array

Lines = Mapping[str, tuple[Array, Array]]
"""Steps and values of each line, by its name."""

MOST_STEPS = 160
"""Most steps that answer the pointer; of longer runs every second, third … does."""

MOST_DRAWN = 400
"""A line has about so many points; a longer run is drawn with every second, third … step."""

BESIDE_NAMES = 44
"""Pixels from the left for the labels of an upright axis: there the steps begin."""

ROOM = 0.15
"""Share of the axis that the word of a marked step needs."""

_AT = "at"
"""The step under the pointer, which all panels share."""


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    """One chart of the column.

    Attributes:
        title: what its lines show, with the unit.
        form: of its numbers, as in `format`.
        levels: heights that get a line across, with a word; NaN gets none.
        low: the axis reaches at least down to here.
        legend: the names of several lines stand above it.
        multiples: each line has a separate row, on one scale for all, named at the left.
    """

    title: str
    lines: Lines
    strokes: Sequence[Stroke]
    _: KW_ONLY
    height: int
    form: str = ".2f"
    levels: Sequence[tuple[float, str]] = ()
    low: float | None = 0.0
    legend: bool = True
    multiples: bool = False


@dataclass(frozen=True, slots=True)
class _Look:
    """The part of a panel that its specification depends on."""

    title: str
    strokes: tuple[Stroke, ...]
    longest: int
    height: int
    legend: bool
    levels: bool
    multiples: bool


def _panels(
    parts: Sequence[_Panel], *, theme: Theme, log_steps: bool = False, marked: Sequence[tuple[float, str]] = ()
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
            strokes=tuple(part.strokes),
            longest=max(map(len, part.lines), default=0),
            height=part.height,
            legend=part.legend and len(part.lines) > 1,
            levels=bool(_levels(part)["y"]),
            multiples=part.multiples,
        )
        for part in parts
    )
    data: dict[str, Columns] = {}
    steps = [steps for part in parts for steps, _ in part.lines.values()]
    if marked:
        data["marks"] = _marks(steps, sorted(marked), log=log_steps)
    longest = max(steps, key=len, default=np.zeros(0))
    shared = np.asarray(longest[:: max(1, -(-len(longest) // MOST_STEPS))], dtype=float)
    for n, part in enumerate(parts):
        data |= {f"lines{n}": _points(part.lines), f"steps{n}": _said(part, shared)}
        data |= {f"levels{n}": _levels(part)} if looks[n].levels else {}
    spec = _column(theme, looks, log_steps, bool(marked))
    return Chart(spec=spec, data=data, values=[f"lines{n}" for n in range(len(parts))])


def _marks(lines: Sequence[Array], marked: Sequence[tuple[float, str]], *, log: bool) -> Columns:
    ends = [float(end) for steps in lines if len(steps) for end in (steps[0], steps[-1])]
    steps = np.array([*(step for step, _ in marked), min(ends, default=0.0), max(ends, default=1.0)])
    *places, low, high = (np.log(np.maximum(steps, 1.0)) if log else steps).tolist()
    distances = np.diff([*places, math.inf])
    return {
        "x": steps[:-2],
        "word": [word if far > ROOM * (high - low) else "" for (_, word), far in zip(marked, distances, strict=True)],
        "side": ["left" if place <= (low + high) / 2 else "right" for place in places],
    }


def _points(lines: Lines) -> Columns:
    return {
        "line": [name for name, (steps, _) in zip(numbered(list(lines)), lines.values(), strict=True) for _ in steps],
        "x": np.concatenate([steps for steps, _ in lines.values()]) if lines else [],
        "y": np.concatenate([values for _, values in lines.values()]) if lines else [],
    }


def _said(part: _Panel, steps: Array) -> Columns:
    """Values of all lines of the panel for each step: at their nearest point, if they reach so far."""
    rows = [[f"step {step:,.0f}"] for step in steps.tolist()]
    for line, (known, values) in part.lines.items():
        if not len(known):
            continue
        nearest = np.abs(known[None, :] - steps[:, None]).argmin(axis=1)
        for row, step, value in zip(rows, steps.tolist(), values[nearest].tolist(), strict=True):
            if known[0] <= step <= known[-1] and np.isfinite(value):
                row.append(f"{line}: {format(value, part.form).replace('-', '−')}")
    return {"x": steps, "hover": ["; ".join(row) for row in rows]}


def _levels(part: _Panel) -> Columns:
    levels = [(y, word) for y, word in part.levels if np.isfinite(y)]
    levels += [(part.low, "")] if part.low is not None else []
    return {
        "y": [y for y, _ in levels],
        "word": [word for _, word in levels],
        "seen": [float(bool(word)) for _, word in levels],
    }


@cache
def _column(theme: Theme, looks: tuple[_Look, ...], log_steps: bool, marked: bool) -> Spec:
    title = {"anchor": "start", "fontSize": theme.letters + 1, "fontWeight": "normal"}
    title |= {"color": theme.text, "offset": 4}
    chart = alt.vconcat(
        *(_panel(theme, look, n, log_steps, marked, last=n == len(looks) - 1) for n, look in enumerate(looks)),
        description="Lines, one panel below the other: " + ", ".join(look.title for look in looks) + ".",
        padding={"left": 0, "right": 0, "top": 4, "bottom": 4},
        spacing=8,
        config=chart_config(theme) | {"title": title},
        resolve={"scale": {"x": "shared", "y": "independent", "color": "independent", "strokeDash": "independent"}},
    )
    spec = chart.to_dict(validate=False)
    over = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["x"], "nearest": True}
    # The layers of steps: Altair numbers their names where there are several panels.
    views = [layer["name"] for view in spec["vconcat"] for layer in view["layer"] if "name" in layer]
    return spec | {"params": [{"name": _AT, "select": over, "views": views}]}


def _panel(
    theme: Theme, look: _Look, n: int, log_steps: bool, marked: bool, *, last: bool
) -> alt.LayerChart | alt.FacetChart:
    scale: dict[str, Any] = {"rangeMin": BESIDE_NAMES} | ({"type": "log"} if log_steps else {})
    below = FEW | {"labelFlush": True, "labelSeparation": 8} if last else {"labels": False, "ticks": False}
    x = number(alt.X, "x", "step" if last else None, axis=below, **scale)
    inside = {"labelAlign": "right", "labelPadding": 6 - BESIDE_NAMES, "ticks": False, "domain": False}
    inside |= {"tickCount": max(2, look.height // 40)}
    y = number(alt.Y, "y", None, axis=inside, zero=False, nice=True)
    colours, dashes = [stroke.colour for stroke in look.strokes], [stroke.dash for stroke in look.strokes]
    shade, dash = strokes("line", colours, dashes, longest=look.longest, legend=look.legend)
    line = rows(f"lines{n}").mark_line(aria=False, strokeWidth=2)
    if look.multiples:
        short = f"replace({UNNUMBERED}, 'head ', '')"  # there is no room next to the lines for more
        along = {"grid": True, "bandPosition": 1, "labelExpr": short}
        y = name(alt.Y, "line", None, axis=inside | along, padding=0)
        row = {"zero": True, "range": [look.height / len(look.strokes) - 1, 2]}
        line = line.encode(
            yOffset=alt.YOffset(field="y", type="quantitative", title=None, scale=row),
            order=alt.Order(field="x", type="quantitative"),  # a line along names would be sorted by its height
        )
    seen = alt.OpacityValue(0, condition={"param": _AT, "value": 1, "empty": False})
    layers = [
        *([summary()] if n == 0 else []),
        *(_level_layers(theme, n, y) if look.levels else []),
        line.encode(x=x, y=y, color=shade, strokeDash=dash),
        *([rows("marks").mark_rule(color=theme.accent, strokeWidth=2, aria=False).encode(x=x)] if marked else []),
        *([words(AWAY | {"baseline": "bottom"}, "marks", x=x, y=alt.YValue("height"))] if marked and n == 0 else []),
        # A line at the step under the pointer, with the numbers of the panel that the pointer is in.
        rows(f"steps{n}", name="steps").mark_rule(color=theme.text, strokeWidth=1).encode(x=x, opacity=seen, **hover()),
    ]
    return alt.layer(*layers, title=look.title, height=look.height)


def _level_layers(theme: Theme, n: int, y: alt.Y) -> list[alt.Chart]:
    line = rows(f"levels{n}").mark_rule(color=theme.text, strokeDash=[2, 3], strokeWidth=1.5, aria=False)
    across = {"x": alt.XValue(BESIDE_NAMES), "x2": alt.X2Value("width")}
    left: Spec = {"align": "left", "baseline": "bottom", "dy": -2}
    return [
        line.encode(**across, y=y, opacity=alt.Opacity("seen:Q", scale=None)),
        words(left, f"levels{n}", x=alt.XValue(BESIDE_NAMES + 6), y=y),
    ]


def _by_layer(heads: Sequence[str], theme: Theme) -> dict[str, Stroke]:
    """A colour for each layer, dashes for the heads in it."""
    layers = [head.rsplit(".", 1)[0] for head in heads]
    known = list(dict.fromkeys(layers))
    colours = dict(zip(known, shades(len(known), theme), strict=False))
    return {
        head: Stroke(colours[layer], DASHES[layers[:n].count(layer) % len(DASHES)])
        for n, (head, layer) in enumerate(zip(heads, layers, strict=True))
    }


def _thinned(lines: Lines) -> Lines:
    found = {}
    for line, (steps, values) in lines.items():
        every = max(1, -(-len(steps) // MOST_DRAWN))
        kept = np.unique(np.r_[np.arange(0, len(steps), every), max(0, len(steps) - 1)])
        found[line] = (steps, values) if every == 1 else (steps[kept], values[kept])
    return found


def log_panels(
    columns: Mapping[str, Lines],
    *,
    theme: Theme,
    levels: Sequence[tuple[float, str]] = (),
    heights: Sequence[int] = (230, 100, 100),
    marked: Sequence[tuple[float, str]] = (),
    bright: str = "",
) -> Chart:
    """Logs of runs, a panel for each column, on one axis of steps.

    Args:
        columns: by the title of the panel, the lines by the names of the runs.
        levels: heights in the first panel that get a line across, with a word.
        bright: the run that stands out from all others, which are grey; "" gives each a different look.
    """
    most = max(len(lines) for lines in columns.values())
    looks = [Stroke(tint, dash) for tint, dash in zip(shades(most, theme), cycle(DASHES))]
    if bright:  # it comes last, so that it is drawn above the others
        columns = {
            title: {run: line for run, line in lines.items() if run != bright} | {bright: lines[bright]}
            for title, lines in columns.items()
        }
        looks = [*[Stroke(theme.hatch)] * (most - 1), Stroke(theme.accent)]
    parts = [
        _Panel(
            title,
            _thinned(lines),
            looks[: len(lines)],
            height=heights[min(n, len(heights) - 1)],
            form=".2e" if "rate" in title else ".3g",
            levels=levels if n == 0 else (),
            low=0.0 if n == 0 else None,
            legend=n == 0 and not bright,
        )
        for n, (title, lines) in enumerate(columns.items())
    ]
    return _panels(parts, theme=theme, marked=marked)


def forming(
    steps: Array,
    *,
    losses: Mapping[str, Array],
    heads: Mapping[str, Mapping[str, Array]],
    level: tuple[float, str],
    now: int,
    theme: Theme,
) -> Chart:
    """Heads as they form: losses above, then a panel for each measure of the heads, over logarithmic steps.

    Args:
        steps: (snapshot,).
        losses: (snapshot,) by name, in nats.
        heads: by the title of a panel, the values (snapshot,) of each head by its name.
        level: the loss of pure chance, and a word for it.
        now: the step that is shown next to the chart.
    """
    looks = (Stroke(theme.plain, DASHES[2]), Stroke(theme.text))[: len(losses)]
    lines = _thinned({name: (steps, values) for name, values in losses.items()})
    above = _Panel("loss, nats per token", lines, looks, height=90, levels=[level])
    return _panels(
        [above, *_of_heads(steps, heads, theme)], theme=theme, log_steps=True, marked=[(float(now), f"step {now:,}")]
    )


def head_panels(steps: Array, heads: Mapping[str, Mapping[str, Array]], *, now: int, theme: Theme) -> Chart:
    """The lower panels of `forming`."""
    parts = _of_heads(steps, heads, theme)
    return _panels(parts, theme=theme, log_steps=True, marked=[(float(now), f"step {now:,}")])


def _of_heads(steps: Array, heads: Mapping[str, Mapping[str, Array]], theme: Theme) -> list[_Panel]:
    """A head looks the same in all panels. More than six would cross: each has a separate row."""
    looks = _by_layer(list(dict.fromkeys(head for lines in heads.values() for head in lines)), theme)
    if many := len(looks) > 6:
        looks = {head: replace(look, dash=DASHES[0]) for head, look in looks.items()}
    return [
        _Panel(
            f"{title}, 0 to {max(map(np.nanmax, lines.values())):.2g}" if many else title,
            _thinned({head: (steps, values) for head, values in lines.items()}),
            [looks[head] for head in lines],
            height=(theme.letters + 5) * len(lines) if many else 110,
            low=None if many else 0.0,
            legend=n == 0 and not many,
            multiples=many,
        )
        for n, (title, lines) in enumerate(heads.items())
    ]
