"""Pictures of who made a word: what every part added to its logit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.numbers import decimal
from tfmviz.plots.theme import (
    BAR_ROOM,
    Theme,
    axis,
    box,
    color_bar,
    figure,
    layout,
    room,
    small_signed_visible,
    token_axis,
)
from tfmviz.trace import Array


def heads(
    scores: Array, *, columns: Sequence[str], title: str, chosen: tuple[int, int] | None, theme: Theme
) -> go.Figure:
    """What every head and feed-forward layer added to a score: layers from top to bottom.

    Args:
        scores: (layer, column), NaN where a layer has no such part.
        columns: what the columns are: numbers of heads, "MLP".
        chosen: row and column to mark.
    """
    end = max(float(np.nanmax(np.abs(scores), initial=0.0)), 1e-9)
    n_layers, n_columns = scores.shape
    exact = [["" if np.isnan(v) else decimal(v, "+.3f") for v in row] for row in scores]
    short = [["" if np.isnan(v) else decimal(v, "+.1f") if abs(v) >= 0.05 else "·" for v in row] for row in scores]
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": scores,
        "zmin": -end,
        "zmax": end,
        "colorscale": small_signed_visible(theme),
        "xgap": 2,
        "ygap": 2,
        "text": short,
        "customdata": [[[name, value] for name, value in zip(columns, row, strict=True)] for row in exact],
        "hoverongaps": False,
        "hovertemplate": "layer %{y}, %{customdata[0]}: %{customdata[1]}<extra></extra>",
        "colorbar": color_bar(escaped(title)),
    }
    if n_columns <= 10:
        trace |= {"texttemplate": "%{text}", "textfont": {"size": 12}}
    marks = [box(chosen[1] - 0.5, chosen[0] - 0.5, chosen[1] + 0.5, chosen[0] + 0.5, theme)] if chosen else []
    return figure(
        [trace],
        layout(
            theme,
            height=BAR_ROOM + 40 * n_layers + 100,
            left=62,
            top=BAR_ROOM,
            bottom=100,
            xaxis=axis("", tickvals=list(range(n_columns)), ticktext=list(columns), tickangle=-90)
            | {"range": [-0.5, n_columns - 0.5]},
            yaxis=axis("layer", tickvals=list(range(n_layers)), range=[n_layers - 0.5, -0.5]),
            shapes=marks,
        ),
    )


def ranked(names: Sequence[str], scores: Array, *, title: str, theme: Theme) -> go.Figure:
    """Signed numbers by name, as bars from top to bottom."""
    positions = list(range(len(names)))
    end = 1.8 * max(float(np.abs(scores).max(initial=0.0)), 1e-9)
    below, above = theme.signed[0][1], theme.signed[-1][1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": positions,
        "x": scores,
        "marker": {"color": [above if score >= 0 else below for score in scores]},
        "text": [decimal(score, "+.2f") for score in scores],
        "textposition": "outside",
        "textangle": 0,
        "cliponaxis": False,
        "customdata": [escaped(name) for name in names],
        "hovertemplate": "%{customdata}: %{text}<extra></extra>",
    }
    return figure(
        [trace],
        layout(
            theme,
            height=28 * len(names) + 68,
            left=room(names, title=False),
            top=8,
            bottom=60,
            xaxis=axis(escaped(title), range=[-end if (scores < 0).any() else 0, end])
            | {"zeroline": True, "zerolinecolor": theme.text},
            yaxis=axis("", tickvals=positions, ticktext=[escaped(name) for name in names])
            | {"range": [len(names) - 0.5, -0.5]},
        ),
    )


def looks(attention: Array, effect: Array, *, tokens: Sequence[str], title: str, theme: Theme) -> go.Figure:
    """Where a head looked (above) and what each look added to a score (below).

    Args:
        attention: (k_len,), shares in [0, 1].
        effect: (k_len,), signed.
        title: of the lower axis.
    """
    names = labels(tokens)
    places = list(range(len(tokens)))
    below, above = theme.signed[0][1], theme.signed[-1][1]
    shared: dict[str, Any] = {"type": "bar", "x": places, "customdata": names, "showlegend": False}
    end = 1.1 * max(float(np.abs(effect).max(initial=0.0)), 1e-9)
    bottom = room(names)
    return figure(
        [
            shared
            | {"y": attention, "marker": {"color": theme.attention}}
            | {"hovertemplate": "looked at “%{customdata}”: %{y:.1%}<extra></extra>"},
            shared
            | {"y": effect, "yaxis": "y2", "marker": {"color": [above if e >= 0 else below for e in effect]}}
            | {"hovertemplate": "the look at “%{customdata}” wrote %{y:+.3f}<extra></extra>"},
        ],
        layout(
            theme,
            height=330 + bottom,
            left=80,
            top=10,
            bottom=bottom,
            xaxis=token_axis(tokens, title="key", tickangle=-90) | {"anchor": "y2"},
            yaxis=axis("attention", domain=[0.56, 1], range=[0, 1], showgrid=True, gridcolor=theme.grid),
            yaxis2=axis(escaped(title), domain=[0, 0.48], range=[-end, end], showgrid=True, gridcolor=theme.grid)
            | {"zeroline": True, "zerolinecolor": theme.text},
        ),
    )
