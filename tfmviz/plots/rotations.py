"""Figures of rotary positions and of the relative schemes: lines over distance, scores and biases, maps of classes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array


def lines(
    x: Array,
    series: Mapping[str, Array],
    *,
    x_title: str,
    y_title: str,
    theme: Theme,
    scale: Literal["linear", "log"] = "linear",
    mark: tuple[float, str] | None = None,
) -> Chart:
    """Several numbers along one axis, in four colours; after every four lines the dash changes.

    Args:
        x: (n,), increasing.
        series: name of each line to its numbers, (n,) or fewer.
        scale: of the y axis.
        mark: a place on the x axis, and its words.
    """
    colours = shades(min(4, len(series)), theme)
    drawn = [
        Line(
            name=name,
            x=x[: len(values)],
            y=values,
            stroke=Stroke(colour=colours[n % 4], dash=DASHES[n // 4 % 4], width=3, dot=40 if len(x) <= 40 else 0),
            said=partial("{0}, {1} {2:g}: {3:.4g}".format, name, x_title),
        )
        for n, (name, values) in enumerate(series.items())
    ]
    axes = Axes(x=x_title, y=y_title, log=scale == "log")
    return line_chart(drawn, axes, theme=theme, marked=[mark] if mark else [])
