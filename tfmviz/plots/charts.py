"""Small charts, of up to a few hundred marks, written with Altair: https://altair-viz.github.io/.

A chart's specification, made once for each kind of chart, holds nothing of the sentence; its data are columns. While
the specification stays the same, the browser exchanges the data in place, in half the time that a new chart takes.

Text from a reader is only ever data. Fields have fixed names, and no expression contains anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tfmviz.plots import alt
from tfmviz.plots.theme import Theme, chart_config
from tfmviz.record.trace import Array

Spec = dict[str, Any]
Columns = Mapping[str, Sequence[str] | Sequence[float] | Array]
Place = TypeVar("Place", bound="alt.X | alt.Y")

UNNUMBERED = "substring(datum.value, 5)"
"""The label on an axis or in a legend of a name made by `numbered`."""

FEW: Spec = {"tickCount": {"expr": "ceil(width / 80)"}}
"""An axis below a chart with so many numbers that they stand apart, on a phone too."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Chart:
    """A chart.

    Attributes:
        spec: the Vega-Lite specification, shared by all charts of its kind: never changed.
        data: columns of each data set that the specification names; non-finite numbers are left out.
        values: the data sets that hold the values of the chart's table.
    """

    spec: Spec
    data: Mapping[str, Columns]
    values: Sequence[str] = ("rows",)


def numbered(names: Sequence[str]) -> list[str]:
    """Distinct names, even of equal ones, that sort in this order: "0003 the"."""
    return [f"{i:04d} {name}" for i, name in enumerate(names)]


def specification(theme: Theme, *layers: alt.Chart, height: int, says: str) -> Spec:
    """The common frame of charts: as wide as the page, transparent, with a sentence for screen readers.

    Args:
        layers: from back to front.
        height: in pixels, with axes and legend.
        says: the kind of chart. The content of this sentence's chart is in the data set "summary", because a changed
            specification would make the browser build the chart anew.
    """
    chart = alt.layer(
        summary(),
        *layers,
        description=says,
        width="container",
        height=height,
        autosize={"type": "fit", "contains": "padding"},
        padding={"left": 4, "right": 12, "top": 6, "bottom": 6},
        config=chart_config(theme),
    )
    return chart.to_dict(validate=False)


def rows(data: str = "rows", **options: Any) -> alt.Chart:
    return alt.Chart(alt.NamedData(data), **options)


def spots(mark: Spec, data: str = "rows", **channels: Any) -> alt.Chart:
    """A filled dot for each row, with the column `hover` under the pointer."""
    return rows(data).mark_point(filled=True, **mark).encode(**channels, **hover())


def words(mark: Spec, data: str = "rows", **channels: Any) -> alt.Chart:
    return rows(data).mark_text(**mark).encode(**channels, text=alt.Text("word:N"))


def of_rows(found: Sequence[tuple[object, ...]], *names: str) -> Columns:
    return dict(zip(names, zip(*found, strict=True), strict=True))


def summary() -> alt.Chart:
    """The layer that describes the chart to screen readers; it draws nothing."""
    summary = alt.Description("summary:N")
    words = rows("summary").mark_text(aria=True, ariaRoleDescription="summary")
    return words.encode(x=alt.XValue(0), y=alt.YValue(0), text=alt.TextValue(""), description=summary)


def hover() -> dict[str, Any]:
    """The column `hover`, shown under the pointer and read out for the mark by screen readers."""
    return {"tooltip": alt.Tooltip("hover:N"), "description": alt.Description("hover:N")}


def number(
    place: type[Place], field: str, title: str | None = None, *, axis: Spec | None = None, **scale: Any
) -> Place:
    """Numbers along `place`, `alt.X` or `alt.Y`, whose ends are those of the numbers."""
    ends = {"nice": False} | ({} if scale.get("type") == "log" else {"zero": False})
    return place(field=field, type="quantitative", title=title, axis=axis or {}, scale=ends | scale, stack=None)


def name(place: type[Place], field: str, title: str | None = None, *, axis: Spec | None = None, **scale: Any) -> Place:
    """`numbered` names along an axis; where they are too many, some labels are left out."""
    labels = {"labelExpr": UNNUMBERED, "labelOverlap": "parity", "grid": False, "ticks": False, "labelPadding": 6}
    scale = scale or {"paddingInner": 0.25, "paddingOuter": 0.15}
    return place(field=field, type="nominal", title=title, axis=labels | (axis or {}), scale=scale)


SLANTED: Spec = {"labelAngle": -45, "labelOverlap": {"expr": "width / domain('x').length < 15 ? 'parity' : false"}}
"""Names below a chart, read without turning the head; all of them while their letters stand apart."""


def slanted(field: str, title: str | None) -> alt.X:
    """An axis of `numbered` names below a chart."""
    return name(alt.X, field, title, axis=SLANTED)


def colour(field: str, colours: Sequence[str], *, longest: int, symbol: str) -> alt.Color:
    """The colour of each of several `numbered` names, with a legend in as many columns as there is room for.

    Args:
        longest: characters of the longest name.
    """
    # The container's width: `width`, without axes, is known only after the legend has found its place.
    columns = f"max(1, floor((containerSize()[0] - 60 + 0 * width) / {54 + 8 * longest}))"
    legend: Spec = {"labelExpr": UNNUMBERED, "symbolType": symbol, "columns": {"expr": columns}}
    if symbol == "stroke":
        legend["symbolSize"] = 400  # long enough to tell dashes apart
    return alt.Color(field=field, type="nominal", title=None, scale={"range": list(colours)}, legend=legend)


def strokes(
    field: str, colours: Sequence[str], dashes: Sequence[Sequence[int]], *, longest: int, legend: bool = True
) -> tuple[alt.Color, alt.StrokeDash]:
    """Colour and dash of each of several `numbered` lines, with one legend or none."""
    shade = colour(field, colours, longest=longest, symbol="stroke")
    if not legend:
        shade["legend"] = None
    looks = {"range": [list(dash) for dash in dashes]}
    return shade, alt.StrokeDash(field=field, type="nominal", title=None, scale=looks, legend=shade["legend"])


def role(field: str, colours: Mapping[str, str]) -> alt.Color:
    scale = {"domain": list(colours), "range": list(colours.values())}
    return alt.Color(field=field, type="nominal", scale=scale, legend=None)


def rule(theme: Theme, *, x: float | None = None, y: float | None = None, **mark: Any) -> alt.Chart:
    """A line across the whole chart."""
    look: dict[str, Any] = {"color": theme.text, "aria": False}
    line = rows("summary").mark_rule(**look | mark)  # a data set of one row
    return line.encode(x=alt.XDatum(x)) if x is not None else line.encode(y=alt.YDatum(y))


def reach(*places: alt.X | alt.Y) -> alt.Chart:
    """Invisible points that make the axes as long as the data set "ends" says."""
    return rows("ends").mark_point(opacity=0, aria=False).encode(*places)
