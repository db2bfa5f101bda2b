"""Two numbers for every token, side by side: the one comparison that most pages draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import labels
from tfmviz.plots.theme import LEGEND, Theme, axis, figure, layout, room, token_axis
from tfmviz.trace import Array


def pairs(
    tokens: Sequence[str],
    one: Array,
    other: Array,
    *,
    series: tuple[str, str],
    title: str,
    theme: Theme,
    token_title: str = "key",
    top: float | None = 1.0,
    percent: bool = False,
) -> go.Figure:
    """Two bars for every token.

    Args:
        one, other: one number per token, at least 0.
        series: what they are.
        title: what is measured.
        token_title: what the tokens are.
        top: end of the scale; None: the largest number.
        percent: the numbers are shares that are read as per cent.
    """
    names = labels(tokens)
    number = "%{y:.2%}" if percent else "%{y:.3f}"
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": list(range(len(tokens))),
            "y": values,
            "marker": {"color": colour},
            "customdata": names,
            "hovertemplate": f"“%{{customdata}}”, {name}: {number}<extra></extra>",
        }
        for name, values, colour in zip(series, (one, other), (theme.attention, theme.mlp), strict=True)
    ]
    bottom = room(names)
    end = top or 1.06 * max(float(np.max(one, initial=0)), float(np.max(other, initial=0)), 1e-9)
    return figure(
        traces,
        layout(
            theme,
            height=270 + bottom,
            left=72,
            top=44,
            bottom=bottom,
            barmode="group",
            legend=LEGEND,
            xaxis=token_axis(tokens, title=token_title, tickangle=-90),
            yaxis=axis(title, range=[0, 1.02 * end], showgrid=True, gridcolor=theme.grid)
            | ({"tickformat": "~%"} if percent else {}),
        ),
    )
