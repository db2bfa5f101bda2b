"""Figures of the step-by-step page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped
from tfmviz.plots.theme import (
    ATTENTION,
    BAR_ROOM,
    LEGEND,
    Theme,
    axis,
    box,
    color_bar,
    figure,
    layout,
    room,
)
from tfmviz.plots.tiles import lay_out
from tfmviz.trace import Array


def histogram(middles: Array, raw: Array, scaled: Array, *, theme: Theme) -> go.Figure:
    """How large scores get, before and after ÷ √d: share of the pairs per bin.

    Args:
        middles: of the bins.
        raw, scaled: share of the pairs in each bin.
    """
    parts = (("q · k", raw, theme.attention), ("q · k / √d", scaled, theme.mlp))
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": middles,
            "y": shares,
            "marker": {"color": colour, "opacity": 0.75},
            "hovertemplate": f"{name} near %{{x:.2f}}: %{{y:.1%}} of the pairs<extra></extra>",
        }
        for name, shares, colour in parts
    ]
    return figure(
        traces,
        layout(
            theme,
            height=320,
            left=76,
            top=44,
            bottom=56,
            barmode="overlay",
            bargap=0,
            legend=LEGEND,
            xaxis=axis("score"),
            yaxis=axis("share of the pairs", tickformat="~%", showgrid=True, gridcolor=theme.grid),
        ),
    )


def bars(names: Sequence[str], values: Array, *, chosen: int, theme: Theme) -> go.Figure:
    """One length per head; the chosen head stands out."""
    positions = list(range(len(names)))
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": positions,
        "x": values,
        "marker": {"color": [theme.accent if n == chosen else theme.attention for n in positions]},
        "text": [f"{value:.2f}" for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": list(names),
        "hovertemplate": "%{customdata}: %{x:.3f}<extra></extra>",
    }
    return figure(
        [trace],
        layout(
            theme,
            height=30 * len(names) + 68,
            left=room(names, title=False),
            top=8,
            bottom=56,
            xaxis=axis("length of what is added", range=[0, 1.2 * max(float(values.max()), 1e-9)]),
            yaxis=axis("", tickvals=positions, ticktext=list(names), range=[len(names) - 0.5, -0.5]),
        ),
    )


def tiles(patterns: Sequence[Array], mask: Array, *, titles: Sequence[str], theme: Theme) -> go.Figure:
    """Several heads on one scale, in rows of tiles; rows are queries, columns keys, masked cells are left blank.

    Args:
        patterns: each (q_len, k_len).
        mask: (q_len, k_len), True = may attend.
        titles: one per pattern.
    """
    across = 3 if len(patterns) > 4 else len(patterns)
    sheet, down = lay_out(patterns, mask, titles=titles, across=across), -(-len(patterns) // across)
    trace = {
        "type": "heatmap",
        "z": sheet.cells,
        "zmin": 0,
        "zmax": 1,
        "colorscale": ATTENTION,
        "hoverongaps": False,
        "hovertemplate": "share of attention %{z:.3f}<extra></extra>",
        "colorbar": color_bar("share of attention"),
    }
    return figure(
        [trace],
        layout(
            theme,
            height=BAR_ROOM + 12 + 260 * down,
            left=8,
            top=BAR_ROOM,
            bottom=4,
            annotations=sheet.notes,
            xaxis=axis("", showticklabels=False, ticks=""),
            yaxis=axis("", showticklabels=False, ticks="", range=[len(sheet.cells) - 0.5, -0.5]),
        ),
    )


def head_scores(scores: Array, *, title: str, chosen: tuple[int, int], theme: Theme) -> go.Figure:
    """How strongly every head follows one simple pattern.

    Args:
        scores: (layer, head), in [0, 1] or NaN.
        chosen: layer and head to mark.
    """
    n_layers, n_heads = scores.shape
    layer, head = chosen
    trace = {
        "type": "heatmap",
        "z": scores,
        "zmin": 0,
        "zmax": 1,
        "colorscale": ATTENTION,
        "xgap": 2,
        "ygap": 2,
        "text": [["–" if np.isnan(score) else f"{score:.2f}" for score in row] for row in scores],
        "texttemplate": "%{text}",
        "hoverongaps": False,
        "hovertemplate": "layer %{y}, head %{x}: %{z:.3f}<extra></extra>",
        "colorbar": color_bar(escaped(f"{title}: share of attention")),
    }
    return figure(
        [trace],
        layout(
            theme,
            height=BAR_ROOM + 40 * n_layers + 56,
            left=72,
            top=BAR_ROOM,
            bottom=56,
            plot_bgcolor=theme.masked,
            xaxis=axis("head", tickvals=list(range(n_heads)), range=[-0.5, n_heads - 0.5]),
            yaxis=axis("layer", tickvals=list(range(n_layers)), range=[n_layers - 0.5, -0.5]),
            shapes=[box(head - 0.5, layer - 0.5, head + 0.5, layer + 0.5, theme)],
        ),
    )
