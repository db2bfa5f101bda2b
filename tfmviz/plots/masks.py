"""Figures of the mask page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.theme import BAR_ROOM, Theme, axis, color_bar, figure, gap, layout, room, token_axis
from tfmviz.trace import Array

OPEN = ((0.0, "#1f6fb4"), (1.0, "#1f6fb4"))
"""The colour of what a mask allows, as in the grid."""


def small(mask: Array, *, title: str, k_tokens: Sequence[str], theme: Theme) -> go.Figure:
    """A mask, blue where a query may look, grey where not; rows are queries, columns keys.

    Args:
        mask: (q_len, k_len).
    """
    bottom = room(labels(k_tokens))
    trace = {
        "type": "heatmap",
        "z": np.where(mask, 1.0, np.nan),
        "colorscale": OPEN,
        "showscale": False,
        "xgap": gap(mask.shape[1]),
        "ygap": gap(mask.shape[0]),
        "hoverinfo": "skip",
    }
    return figure(
        [trace],
        layout(
            theme,
            height=250 + bottom,
            left=30,
            top=34,
            bottom=bottom,
            plot_bgcolor=theme.masked,
            title={"text": escaped(title), "font": {"size": 15}, "x": 0, "xref": "paper", "y": 0.98, "yanchor": "top"},
            xaxis=token_axis(k_tokens, title="key", tickangle=-90) | {"tickfont": {"size": 10}},
            yaxis=axis("query", range=[len(mask) - 0.5, -0.5], showticklabels=False, ticks=""),
        ),
    )


def reach(steps: Array, *, tokens: Sequence[str], n_layers: int, theme: Theme) -> go.Figure:
    """After how many layers a token can influence a position; grey: not within these layers.

    Args:
        steps: (len, len), 0 on the diagonal, negative where out of reach.
        n_layers: of the model.
    """
    shown = np.where(steps >= 0, steps, np.nan)
    names = labels(tokens)
    bottom, written = room(names), len(tokens) <= 32
    trace = {
        "type": "heatmap",
        "z": shown,
        "zmin": 0,
        "zmax": max(n_layers, 1),
        "colorscale": theme.norms,
        "xgap": gap(len(tokens)),
        "ygap": gap(len(tokens)),
        "hoverongaps": False,
        "hovertemplate": "token %{x:d} reaches position %{y:d} after %{z:d} layers<extra></extra>",
        "colorbar": color_bar("layers until the key can influence the query") | {"dtick": 1},
    }
    if written:
        trace |= {
            "text": [["" if np.isnan(n) else f"{n:.0f}" for n in row] for row in shown],
            "texttemplate": "%{text}",
        }
    return figure(
        [trace],
        layout(
            theme,
            height=440 + BAR_ROOM + bottom,
            left=room(names),
            top=BAR_ROOM,
            bottom=bottom,
            plot_bgcolor=theme.masked,
            xaxis=token_axis(tokens, title="key: is read", tickangle=-90),
            yaxis=token_axis(tokens, title="query: position", range=[len(tokens) - 0.5, -0.5]),
        ),
    )


def change(values: Array, *, tokens: Sequence[str], theme: Theme) -> go.Figure:
    """How far every token's vector has moved after each layer.

    Args:
        values: (n_layers, len), relative lengths, at least 0.
    """
    names = labels(tokens)
    bottom = room(names)
    trace = {
        "type": "heatmap",
        "z": values,
        "zmin": 0,
        "zmax": max(float(values.max()), 1e-9),
        "colorscale": theme.norms,
        "xgap": gap(len(tokens)),
        "ygap": 1,
        "hovertemplate": "after layer %{y:d}, token %{x:d}: moved by %{z:.1%} of its length<extra></extra>",
        "colorbar": color_bar("change of the vector, as a part of its length") | {"tickformat": ".0%"},
    }
    return figure(
        [trace],
        layout(
            theme,
            height=34 * len(values) + BAR_ROOM + bottom,
            left=100,
            top=BAR_ROOM,
            bottom=bottom,
            xaxis=token_axis(tokens, title="token", tickangle=-90),
            yaxis=axis("after layer", tickvals=list(range(len(values))), range=[len(values) - 0.5, -0.5]),
        ),
    )
