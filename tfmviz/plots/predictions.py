"""Next-word predictions as bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from tfmviz.plots.labels import labels
from tfmviz.plots.theme import Theme, layout


def bars(tokens: Sequence[str], probabilities: Sequence[float], *, theme: Theme) -> go.Figure:
    """Horizontal bars, most probable on top, each with its probability in per cent.

    Args:
        tokens: candidates for the next token.
        probabilities: of each, in [0, 1].
    """
    positions = list(range(len(tokens)))
    names = labels(tokens)
    figure = go.Figure(
        go.Bar(
            x=list(probabilities),
            y=positions,
            orientation="h",
            marker={"color": theme.prediction},
            text=[f"{probability:.1%}" for probability in probabilities],
            textposition="outside",
            cliponaxis=False,
            customdata=names,
            hovertemplate="“%{customdata}”: %{x:.2%}<extra></extra>",
        )
    )
    figure.update_layout(
        layout(
            theme,
            height=30 * len(tokens) + 70,
            xaxis={
                "title": {"text": "probability of being the next token"},
                "range": [0, max(1.18 * max(probabilities), 0.01)],
                "tickformat": "~%",
                "fixedrange": True,
                "automargin": True,
                "gridcolor": theme.grid,
                "zeroline": False,
            },
            yaxis={
                "tickvals": positions,
                "ticktext": names,
                "range": [len(tokens) - 0.5, -0.5],
                "fixedrange": True,
                "showgrid": False,
                "automargin": True,
            },
        )
    )
    return figure
