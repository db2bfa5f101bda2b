"""Small charts, of up to a few hundred marks, in the language of Vega-Lite: https://vega.github.io/vega-lite/docs/.

A chart is two things. Its specification says how it looks; it is made once for each kind of chart and holds nothing
of the sentence. Its data are columns. While the specification stays the same, the browser exchanges the data in place
instead of building the chart anew, in half the time.

Text that comes from a reader is only ever data. Fields have the names below, and no expression contains anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfmviz.plots.theme import Theme, chart_config
from tfmviz.record.trace import Array

Spec = dict[str, Any]
Columns = Mapping[str, Sequence[str] | Sequence[float] | Array]

UNNUMBERED = "substring(datum.value, 5)"
"""What an axis or a legend shows of a name made by `numbered`."""

_SAID: Spec = {"field": "hover", "type": "nominal"}
HOVER = {"tooltip": _SAID, "description": _SAID}
"""The column `hover` is shown where the pointer is, and read out for the mark by screen readers."""

WORD: Spec = {"field": "word", "type": "nominal"}
"""The column `word` is written beside a mark."""

FEW: Spec = {"tickCount": {"expr": "ceil(width / 80)"}}
"""An axis below a chart with so many numbers that they stand apart, on a phone too."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Chart:
    """A chart for `ui.figures.show`.

    Attributes:
        spec: the Vega-Lite specification, shared by all charts of its kind: never changed.
        data: columns of each data set that the specification names; numbers that are not finite are left out.
    """

    spec: Spec
    data: Mapping[str, Columns]


def numbered(names: Sequence[str]) -> list[str]:
    """Names that differ even where two are alike, and that sort in this order: "0003 the"."""
    return [f"{i:04d} {name}" for i, name in enumerate(names)]


def specification(theme: Theme, *layers: Spec, height: int, says: str) -> Spec:
    """What all charts share: as wide as the page, transparent, with a sentence for screen readers.

    Args:
        layers: from back to front.
        height: in pixels, with axes and legend.
        says: what kind of chart this is. What this sentence's chart shows is in the data set "summary", because a
            changed specification would make the browser build the chart anew.
    """
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": says,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 4, "right": 12, "top": 6, "bottom": 6},
        "config": chart_config(theme),
        "layer": [SUMMARY, *layers],
    }


SUMMARY: Spec = {
    "data": {"name": "summary"},
    "mark": {"type": "text", "aria": True, "ariaRoleDescription": "summary"},
    "encoding": {
        "x": {"value": 0},
        "y": {"value": 0},
        "text": {"value": ""},
        "description": {"field": "summary", "type": "nominal"},
    },
}
"""The layer that says in words what a chart shows, for screen readers; it draws nothing."""


def layer(mark: Spec, data: str = "rows", /, **encoding: Spec) -> Spec:
    """One kind of mark for every row of a data set."""
    return {"data": {"name": data}, "mark": mark, "encoding": encoding}


def number(field: str, title: str | None = None, *, axis: Spec | None = None, **scale: Any) -> Spec:
    """A column of numbers along an axis."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "axis": axis or {},
        "scale": {"nice": False} | ({} if scale.get("type") == "log" else {"zero": False}) | scale,
        "stack": None,
    }


def name(field: str, title: str | None = None, *, axis: Spec | None = None, **scale: Any) -> Spec:
    """A column of `numbered` names along an axis; where they are too many, some labels are left out."""
    labels = {"labelExpr": UNNUMBERED, "labelOverlap": "parity", "grid": False, "ticks": False, "labelPadding": 6}
    return {
        "field": field,
        "type": "nominal",
        "title": title,
        "axis": labels | (axis or {}),
        "scale": scale or {"paddingInner": 0.25, "paddingOuter": 0.15},
    }


def upright(field: str, title: str | None) -> Spec:
    """An axis of `numbered` names below a chart, which are read from below."""
    return name(field, title, axis={"labelAngle": -90})


def colour(field: str, *, longest: int, symbol: str, **scale: Any) -> Spec:
    """The colour of each of several `numbered` names, with a legend in as many columns as there is room for.

    Args:
        longest: characters of the longest name.
        symbol: its sign in the legend.
        scale: `range`, a list of colours, or `scheme`.
    """
    # The container's width: `width`, without axes, is known only after the legend has found its place.
    columns = f"max(1, floor((containerSize()[0] - 60 + 0 * width) / {54 + 8 * longest}))"
    legend: Spec = {"labelExpr": UNNUMBERED, "symbolType": symbol, "columns": {"expr": columns}}
    if symbol == "stroke":
        legend["symbolSize"] = 400  # long enough to tell dashes apart
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "legend": legend}


def role(field: str, colours: Mapping[str, str]) -> Spec:
    """A colour for each of a few words of ours."""
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


def as_it_is(field: str) -> Spec:
    """A column that holds pixels or opacities, not something to measure."""
    return {"field": field, "type": "quantitative", "scale": None}


def rule(theme: Theme, *, x: float | None = None, y: float | None = None, mark: Spec | None = None) -> Spec:
    """A line across the whole chart at one place."""
    at = {k: {"datum": v, "type": "quantitative"} for k, v in (("x", x), ("y", y)) if v is not None}
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": theme.text, "aria": False} | (mark or {}),
        "encoding": at,
    }


def reach(**titles: str | None) -> Spec:
    """Invisible points that make the axes as long as the data set "ends" says."""
    return layer({"type": "point", "opacity": 0, "aria": False}, "ends", **{k: number(k, t) for k, t in titles.items()})
