"""Next-word predictions as bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from tfmviz.plots.labels import labels
from tfmviz.plots.theme import Theme, axis, figure, layout, room


def bars(tokens: Sequence[str], probabilities: Sequence[float], *, theme: Theme) -> go.Figure:
    """Horizontal bars, most probable on top, each with its probability in per cent.

    Args:
        tokens: candidates for a place in the text.
        probabilities: of each, in [0, 1].
    """
    positions = list(range(len(tokens)))
    names = labels(tokens)
    trace = {
        "type": "bar",
        "x": list(probabilities),
        "y": positions,
        "orientation": "h",
        "marker": {"color": theme.prediction},
        "text": [f"{probability:.1%}" for probability in probabilities],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": names,
        "hovertemplate": "“%{customdata}”: %{x:.2%}<extra></extra>",
    }
    return figure(
        [trace],
        layout(
            theme,
            height=30 * len(tokens) + 68,
            left=room(names, title=False),
            top=8,
            bottom=60,
            xaxis=axis(
                "probability of this token",
                range=[0, max(1.18 * max(probabilities), 0.01)],
                tickformat="~%",
                showgrid=True,
                gridcolor=theme.grid,
            ),
            yaxis=axis("", tickvals=positions, ticktext=names, range=[len(tokens) - 0.5, -0.5]),
        ),
    )
