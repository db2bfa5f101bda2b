"""Figures in three dimensions, drawn by Plotly: https://plotly.com/python/.

A figure is a plain dictionary of Plotly's, so nothing here imports the library. `layout.meta` holds its values, for the
bar below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tfmviz.plots.theme import SANS, Theme, shades
from tfmviz.record.trace import Array

Space = dict[str, Any]
"""A figure of Plotly: `data` and `layout`."""

View = Literal["a corner", "the front", "the side", "above"]
"""The first point of view, until the reader rotates the figure."""

EYES: dict[View, tuple[float, float, float]] = {
    "a corner": (0.95, -1.15, 0.75),
    "the front": (0, -1.7, 0),
    "the side": (1.7, 0, 0),
    "above": (0, -0.01, 1.7),  # exactly above, a drag could not tell left from right
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Way:
    """A line through space.

    Attributes:
        points: (n, 3).
        said: text of each point under the pointer.
        label: stands at the last point.
        stands_out: the reader has chosen it.
        dots: (n,), selects points that are drawn as dots and belong to the values; None: all belong, none is drawn.
        steps: (n,), position of each dot on the scale of colours; None: dots have the colour of the line.
    """

    name: str
    points: Array
    tooltips: Sequence[str]
    colour: str
    width: float = 5.0
    label: str = ""
    stands_out: bool = False
    dots: Array | None = None
    steps: Array | None = None
    in_legend: bool = True


def ways(
    drawn: Sequence[Way],
    *,
    axes: tuple[str, str, str],
    title: str,
    seen_from: View,
    theme: Theme,
    stages: Sequence[str] = (),
    ground: tuple[Array, Array, Array] | None = None,
    shape: tuple[float, float, float] = (1, 1, 1),
) -> Space:
    """Lines through space.

    Args:
        stages: names of the steps on the scale of colours.
        ground: (x,), (y,) and heights (y, x) of a surface below the lines.
        shape: relative lengths of the axes.
    """
    data = [_surface(*ground, theme)] if ground else []
    data += [trace for way in drawn for trace in _traces(way, stages, theme)]
    rows = [
        [way.name, *point]
        for way in drawn
        for point in (way.points if way.dots is None else way.points[way.dots]).tolist()
    ]
    meta = {"values": {"title": title, "columns": ["", *axes], "rows": rows}}
    return {"data": data, "layout": {"meta": meta, **_layout(axes, seen_from, shape, theme)}}


def _traces(way: Way, stages: Sequence[str], theme: Theme) -> list[dict[str, Any]]:
    common = {"type": "scatter3d", "hoverinfo": "text", "showlegend": False}
    line = {
        **common,
        **_places(way, np.ones(len(way.points), bool)),
        "mode": "lines",
        "name": way.name,
        "showlegend": way.in_legend,
        "line": {"color": way.colour, "width": way.width},
    }
    traces = [line]
    if way.dots is not None:
        marker: dict[str, Any] = {"size": 6 if way.stands_out else 4, "color": way.colour}
        if way.steps is not None:
            marker |= {"color": way.steps[way.dots].tolist(), "cmin": 0, "cmax": len(stages) - 1}
            marker |= {
                "colorscale": [[n / 8, shade] for n, shade in enumerate(shades(9, theme))],
                "showscale": way.stands_out,
                "colorbar": _bar(stages, theme),
            }
        traces.append({**common, **_places(way, way.dots), "mode": "markers", "marker": marker})
    if way.label:
        font = {"color": way.colour if way.stands_out else theme.text, "size": theme.letters + 2 * way.stands_out}
        end = {axis: [float(value)] for axis, value in zip("xyz", way.points[-1], strict=True)}
        words = {"text": [way.label], "textposition": "top center", "textfont": font, "hoverinfo": "skip"}
        traces.append({**common, **end, "mode": "text", **words})
    return traces


def _places(way: Way, which: Array) -> dict[str, Any]:
    places = dict(zip("xyz", way.points[which].T.tolist(), strict=True))
    return {
        **places,
        "hovertext": [tooltip for tooltip, is_there in zip(way.tooltips, which, strict=True) if is_there],
    }


def _bar(stages: Sequence[str], theme: Theme) -> dict[str, Any]:
    shown = range(0, len(stages), max(1, round(len(stages) / 6)))
    return {
        "orientation": "h",
        "y": -0.14,
        "len": 0.8,
        "title": {"text": "after layer", "side": "bottom", "font": {"color": theme.text, "size": theme.letters}},
        "tickvals": list(shown),
        "ticktext": [stages[n] for n in shown],
        "tickfont": {"color": theme.text, "size": theme.letters},
        "thickness": 12,
        "outlinewidth": 0,
    }


def _surface(x: Array, y: Array, heights: Array, theme: Theme) -> dict[str, Any]:
    return {
        "type": "surface",
        "x": x.tolist(),
        "y": y.tolist(),
        "z": heights.tolist(),
        "colorscale": [[n / 2, colour] for n, colour in enumerate(theme.norms)],
        "showscale": False,
        "opacity": 0.5,
        "hoverinfo": "skip",
        "contours": {"z": {"show": True, "color": theme.grid, "highlight": False}},
    }


def _layout(
    axes: tuple[str, str, str], seen_from: View, shape: tuple[float, float, float], theme: Theme
) -> dict[str, Any]:
    look = {
        "color": theme.text,
        "gridcolor": theme.grid,
        "zerolinecolor": theme.grid,
        "showbackground": False,
        "tickfont": {"size": theme.letters},
        "showspikes": False,
        "nticks": 6,
    }
    named = {
        axis: {**look, "title": {"text": title, "font": {"size": theme.letters}}}
        for axis, title in zip(("xaxis", "yaxis", "zaxis"), axes, strict=True)
    }
    far = 1.05 + 0.35 * (max(shape) - 1)  # or the ends of a long figure would be out of sight
    return {
        "height": 460,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": SANS, "color": theme.text, "size": theme.letters},
        "legend": {"orientation": "h", "y": 1, "x": 0, "bgcolor": "rgba(0,0,0,0)"},
        "uirevision": seen_from,  # as the reader has turned it, until another view is chosen
        "scene": {
            **named,
            "camera": {"eye": {axis: place * far for axis, place in zip("xyz", EYES[seen_from], strict=True)}},
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", shape, strict=True)),
        },
    }
