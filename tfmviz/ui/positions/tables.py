from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tfmviz.plots.cells import Axis, Cells, Texts, ValueFormat, signed
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, Stroke, line_chart, named_lines
from tfmviz.plots.theme import shades
from tfmviz.record.trace import Array
from tfmviz.ui.figures import theme


def table(
    values: Array,
    title: str,
    *,
    limit: float | None,
    texts: Texts | None = None,
) -> Cells:
    """Signed numbers, (rows, columns). Colours end at `limit`; None: at the largest absolute value."""
    rows, columns = Axis("position"), Axis("dimension")
    scale, height = signed(values, title, limit=limit), max(26, round(180 / len(values)))
    return Cells(values[None], rows, columns, scale, form=ValueFormat(digits=4), texts=texts, row_height=height)


def between(values: Array, title: str, both: Axis | None = None, limit: float = 1.0) -> Cells:
    """A signed number for any two positions, or any two tokens of a text, (n, n); the colours end at `limit`."""
    both = both or Axis("position")
    return Cells(values[None], both, both, signed(values, title, limit=limit), form=ValueFormat(digits=4), square=True)


def lines(
    series: Mapping[str, Array],
    title: str,
    *,
    x: str = "position",
    log: bool = False,
    strokes: Mapping[str, Stroke] = MappingProxyType({}),
    **more: Any,
) -> Chart:
    """Lines over the positions 0, 1, 2 …; `strokes` of those that differ from the usual ones."""
    look = theme()
    colours = [look.text, look.plain][: len(series)] if len(series) <= 2 else shades(len(series), look)
    usual = [Stroke(tint, dot=20 if len(y) <= 64 else 0) for tint, y in zip(colours, series.values(), strict=True)]
    drawn = [strokes.get(name, stroke) for name, stroke in zip(series, usual, strict=True)]
    points = {name: (np.arange(len(y)), y) for name, y in series.items()}
    found = named_lines(points, "{} at {:g}: {:.4g}".format, theme=look, strokes=drawn)
    return line_chart(found, Axes(x, title, log=log, legend=len(series) > 1), theme=look, **more)
