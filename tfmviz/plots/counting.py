"""Figures of the page that counts words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def by_length(values: Array, *, title: str, said: Callable[[float], str], percent: bool = False, theme: Theme) -> Chart:
    """One number for n = 1, 2, 3 …

    Args:
        values: (n,).
        title: what they measure.
        said: how a value is written.
        percent: whether it is a share, shown in per cent.
    """
    line = Line(
        name=title,
        x=np.arange(1.0, len(values) + 1),
        y=values,
        stroke=Stroke(colour=theme.plain, dot=120),
        said=lambda n, value: f"n = {n:.0f}: {said(value)}",
    )
    axes = Axes(x="n", y=title, height=210, percent=percent, legend=False)
    return line_chart([line], axes, theme=theme, y_range=(0.0, float(max(values.max(), 1.0))))


def perplexities(
    values: Mapping[str, Array],
    x: Sequence[float],
    *,
    title: str,
    said: Callable[[float], str],
    ends: tuple[float, float],
    theme: Theme,
) -> Chart:
    """Perplexity on held-out text, a line for each model.

    Args:
        values: (x,) for each model.
        x: what they are measured against.
        title: what that is.
        said: how a value of x is written.
        ends: of the axis of perplexities.
    """
    lines = named_lines(
        {name: (np.asarray(x, dtype=float), y) for name, y in values.items()},
        lambda name, place, value: f"{name}, {said(place)}: {value:,.0f}",
        theme=theme,
        dot=90,
    )
    axes = Axes(x=title, y="perplexity", height=240, log=True)
    return line_chart(lines, axes, theme=theme, y_range=ends, words=list(values))
