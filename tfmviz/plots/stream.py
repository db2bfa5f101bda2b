"""Pictures of the stream page: lengths by depth, and what every part of the model adds to one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.numbers import decimal
from tfmviz.plots.theme import LEGEND, Theme, axis, figure, layout, room
from tfmviz.trace import Array

BAR = 30
"""Pixels that a row of bars takes."""


def growth(
    values: Array, *, stages: Sequence[str], tokens: Sequence[str], position: int, theme: Theme, top: float = 0.0
) -> go.Figure:
    """Length of every token's vector by depth, a line each; the chosen token and the mean stand out.

    Args:
        values: (stage, len).
        position: the chosen token.
        top: end of the scale at least, so that two figures can share one.
    """
    names = labels(tokens)
    depth = list(range(len(stages)))
    lines = (
        ("mean", values.mean(axis=1), theme.text, "dash"),
        (f"“{names[position]}”", values[:, position], theme.accent, "solid"),
    )
    traces = [_each_token(values, names, theme)] + [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": depth,
            "y": series,
            "line": {"color": colour, "width": 3, "dash": dash},
            "hovertemplate": f"{name}: length %{{y:.2f}}<extra></extra>",
        }
        for name, series, colour, dash in lines
    ]
    bottom = room(stages, title=False)
    end = max(top, float(values.max()), 1e-9)
    return figure(
        traces,
        layout(
            theme,
            height=312 + bottom,
            left=72,
            top=66,
            bottom=bottom,
            legend=LEGEND,
            xaxis=axis("", tickvals=depth, ticktext=list(stages), tickangle=-90, range=[-0.3, len(depth) - 0.7]),
            yaxis=axis("length of the vector", range=[0, 1.06 * end], showgrid=True, gridcolor=theme.grid),
        ),
    )


def _each_token(values: Array, names: Sequence[str], theme: Theme) -> dict[str, Any]:
    """One trace for all tokens, broken between them."""
    n_stages, length = values.shape
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "all tokens",
        "x": [*range(n_stages), None] * length,
        "y": np.vstack((values, np.full((1, length), np.nan))).T.ravel(),
        "customdata": [name for name in names for _ in range(n_stages + 1)],
        "line": {"color": theme.text, "width": 1.5},
        "opacity": 0.25,
        "hovertemplate": "“%{customdata}”: length %{y:.2f}<extra></extra>",
    }


def colours(theme: Theme) -> dict[str, str]:
    """The colour of each kind of part."""
    return {
        "embedding": theme.accent,
        "position": "#2f9e73",
        "head": theme.attention,
        "bias": theme.norms[1][1],
        "MLP": theme.mlp,
        "norm": theme.masked,
    }


def waterfall(
    along: Array, *, kinds: Sequence[str], names: Sequence[str], steps: Sequence[str], theme: Theme
) -> go.Figure:
    """How far every part takes the vector in the direction in which it ends: each row begins where the last one ended.

    Parts that lead there lie to the right of a row's beginning, those that lead away to its left, all end to end.

    Args:
        along: (part,), signed.
        kinds, names, steps: of each part; parts of one step share a row.
    """
    rows = list(dict.fromkeys(steps))
    begins, row_of = _begins(along, steps, rows)
    colour = colours(theme)
    written = [decimal(step, "+.2f") for step in along]
    pieces = {
        "type": "bar",
        "orientation": "h",
        "y": row_of,
        "x": along,
        "base": begins,
        "width": 0.7,
        "offset": -0.35,
        "marker": {
            "color": [colour[kind] for kind in kinds],
            "line": {"color": theme.text, "width": 0.5},
            "pattern": {"shape": ["/" if step < 0 else "" for step in along], "fgcolor": theme.text, "size": 6},
        },
        "customdata": [[escaped(name), text] for name, text in zip(names, written, strict=True)],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]}<extra></extra>",
    }
    ends = np.cumsum([sum(along[n] for n, r in enumerate(row_of) if r == row) for row in range(len(rows))])
    return figure(
        [pieces, _trail(ends, theme)],
        layout(
            theme,
            height=BAR * len(rows) + 70,
            left=room(rows, title=False),
            top=12,
            bottom=58,
            barmode="overlay",
            showlegend=False,
            xaxis=axis("distance", showgrid=True, gridcolor=theme.grid)
            | {"zeroline": True, "zerolinecolor": theme.text},
            yaxis=axis("", tickvals=list(range(len(rows))), ticktext=rows, range=[len(rows) - 0.5, -0.5]),
        ),
    )


def _begins(along: Array, steps: Sequence[str], rows: Sequence[str]) -> tuple[list[float], list[int]]:
    """Where each bar begins, and its row."""
    row_of = [rows.index(step) for step in steps]
    begins, start = [0.0] * len(steps), 0.0
    for row in range(len(rows)):
        ahead = back = start
        for n in (n for n, r in enumerate(row_of) if r == row):
            if along[n] >= 0:
                begins[n], ahead = ahead, ahead + float(along[n])
            else:
                begins[n], back = back, back + float(along[n])
        start = ahead + back - start
    return begins, row_of


def _trail(ends: Array, theme: Theme) -> dict[str, Any]:
    """Where the vector is after each row."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": ends,
        "y": list(range(len(ends))),
        "line": {"color": theme.text, "width": 1.5, "dash": "dot"},
        "marker": {"symbol": "diamond", "size": 9, "color": theme.text},
        "hovertemplate": "so far: %{x:.2f}<extra></extra>",
    }


def sizes(size: Array, cosine: Array, *, kinds: Sequence[str], names: Sequence[str], theme: Theme) -> go.Figure:
    """Every part by its length and by its direction against the stream it meets: erasers lie on the left.

    Args:
        size: (part,).
        cosine: (part,), in [-1, 1]; parts without one are left out.
    """
    traces = []
    for kind in dict.fromkeys(kinds):
        own = [n for n, k in enumerate(kinds) if k == kind and not np.isnan(cosine[n])]
        if own:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": kind,
                    "x": cosine[own],
                    "y": size[own],
                    "marker": {"size": 12, "color": colours(theme)[kind], "line": {"color": theme.text, "width": 0.6}},
                    "customdata": [escaped(names[n]) for n in own],
                    "hovertemplate": "%{customdata}: length %{y:.2f}, cosine %{x:.2f}<extra></extra>",
                }
            )
    return figure(
        traces,
        layout(
            theme,
            height=444,
            left=72,
            top=66,
            bottom=58,
            legend=LEGEND,
            shapes=[
                {"type": "rect", "xref": "x", "yref": "paper", "x0": -1, "x1": 0, "y0": 0, "y1": 1, "layer": "below"}
                | {"fillcolor": theme.grid, "opacity": 0.45, "line": {"width": 0}}
            ],
            xaxis=axis("cosine: erases | adds", range=[-1.04, 1.04]),
            yaxis=axis("length", range=[0, 1.1 * max(float(size.max()), 1e-9)], showgrid=True, gridcolor=theme.grid),
        ),
    )
