"""Signed values as colours: purple below 0, orange above, the page's ground at 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.numbers import decimal
from tfmviz.plots.theme import BAR_ROOM, Theme, color_bar, figure, layout
from tfmviz.trace import Array


def signed_map(
    values: Array,
    *,
    title: str,
    x: dict[str, Any],
    y: dict[str, Any],
    hover: Sequence[Sequence[str]],
    theme: Theme,
    limit: float | None = None,
    written: str = "",
    **more: Any,
) -> go.Figure:
    """A heat map of signed values; what is no number stays grey.

    Args:
        values: (row, column), the first row on top.
        title: of the colour bar.
        x, y: axes of columns and rows, see `theme.axis`; the figure needs their room in `more`: height, left, bottom.
        hover: what is said of each cell, escaped.
        limit: the value of the strongest colour; None takes the largest there is.
        written: how numbers, rounded to hundredths, are written into the cells: "+.2f"; empty writes none.
    """
    strongest = limit or max(float(np.nanmax(np.abs(values), initial=0)), 1e-9)
    trace = {
        "type": "heatmap",
        "z": values,
        "zmin": -strongest,
        "zmax": strongest,
        "colorscale": theme.signed,
        "hoverongaps": False,
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorbar": color_bar(title),
    } | {name: more.pop(name) for name in ("xgap", "ygap") if name in more}
    if written:
        shown = values.round(2) + 0.0  # no −0.00
        trace |= {
            "text": [["" if np.isnan(v) else decimal(v, written) for v in row] for row in shown],
            "texttemplate": "%{text}",
        }
    return figure([trace], layout(theme, top=BAR_ROOM, plot_bgcolor=theme.masked, xaxis=x, yaxis=y, **more))
