"""Figures of rotary positions and of the relative schemes: lines over distance, scores and biases, maps of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from tfmviz.plots.cells import Cells, Form, Frame, Scale, masked, of_tokens, signed, written
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


def score_tiles(parts: Mapping[str, Array], mask: Array, *, tokens: Sequence[str], row: int) -> Cells:
    """Matrices of scores side by side on one scale about 0; rows are queries, columns keys, masked cells are grey.

    Args:
        parts: title of each to its (len, len) numbers.
        mask: (len, len), True = may attend.
        row: the query that is framed.
    """
    values = masked(list(parts.values()), mask)
    return Cells(
        matrices=values,
        rows=of_tokens("query", tokens),
        columns=of_tokens("key", tokens),
        frames=(Frame(top=row, left=0, bottom=row + 1, right=len(tokens)),),
        scale=signed(values, "score, and what is added to it", root=True),  # a gentle slope would look like nothing
        titles=tuple(parts),
        texts=written(np.concatenate(values), ".2f"),
        square=True,
    )


def class_map(values: Array, *, tokens: Sequence[str], title: str, mask: Array) -> Cells:
    """Which class every query and key fall into, by number; classes that a mask hides are grey.

    Args:
        values: (len, len), whole numbers of at least 0.
        title: what the numbers are.
        mask: (len, len), True = may attend.
    """
    shown = masked([values], mask)
    return Cells(
        matrices=shown,
        rows=of_tokens("query", tokens),
        columns=of_tokens("key", tokens),
        scale=Scale(colours="norms", low=0, high=max(float(values.max()), 1.0), title=title, ticks="whole"),
        form=Form(name=f"{title} ", digits=0),
        texts=written(shown[0], ".0f"),
        square=True,
    )
