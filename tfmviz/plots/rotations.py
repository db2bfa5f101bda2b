"""Figures of rotary positions and of the relative schemes: lines over distance, scores and biases, maps of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.theme import (
    BAR_ROOM,
    LEGEND,
    Theme,
    axis,
    color_bar,
    figure,
    gap,
    layout,
    room,
    token_axis,
)
from tfmviz.trace import Array

DASHES = ("solid", "dash", "dot", "dashdot")


def lines(
    x: Array,
    series: Mapping[str, Array],
    *,
    x_title: str,
    y_title: str,
    theme: Theme,
    scale: str = "linear",
    mark: tuple[float, str] | None = None,
) -> go.Figure:
    """Several numbers along one axis.

    Args:
        x: (n,), increasing.
        series: name of each line to its (n,) numbers.
        scale: "linear" or "log", of the upright axis.
        mark: a place on the level axis and what is there.
    """
    upright = axis(y_title, type=scale, showgrid=True, gridcolor=theme.grid)
    legend_room = _legend_room(list(series))
    return figure(
        _line_traces(x, series, x_title, theme),
        layout(
            theme,
            height=340 + legend_room,
            left=84,
            top=legend_room + 14,
            bottom=58,
            legend=LEGEND,
            showlegend=True,
            xaxis=axis(x_title, range=_range(x)) | ({"tickvals": x} if len(x) <= 8 else {}),
            yaxis=upright | ({"dtick": 1, "exponentformat": "power"} if scale == "log" else {"zeroline": True}),
            **_marked(mark, _range(x), theme),
        ),
    )


def _line_traces(x: Array, series: Mapping[str, Array], x_title: str, theme: Theme) -> list[dict[str, Any]]:
    """Four colours, and after every four lines another dash."""
    colours = (theme.attention, theme.mlp, theme.accent, theme.text)
    return [
        {
            "type": "scatter",
            "mode": "lines+markers" if len(x) <= 40 else "lines",
            "name": escaped(name),
            "x": x,
            "y": values,
            "line": {"color": colours[n % 4], "width": 3, "dash": DASHES[n // 4 % 4]},
            "hovertemplate": f"{escaped(name)}<br>{escaped(x_title)} %{{x}}: %{{y:.4g}}<extra></extra>",
        }
        for n, (name, values) in enumerate(series.items())
    ]


def _legend_room(names: Sequence[str]) -> int:
    """Pixels above a figure for its legend on a phone, where one long or two short names fit in a line."""
    side_by_side = 2 if max(map(len, names)) <= 8 else 1
    return 8 + 25 * -(-len(names) // side_by_side)


def _range(x: Array) -> list[float]:
    """The whole axis, with a little room at both ends."""
    edge = 0.02 * max(float(x[-1] - x[0]), 1.0)
    return [float(x[0]) - edge, float(x[-1]) + edge]


def _marked(mark: tuple[float, str] | None, ends: Sequence[float], theme: Theme) -> dict[str, Any]:
    """A line across the figure at one place, and what it stands for."""
    if mark is None:
        return {}
    place, text = mark
    line = {"color": theme.text, "width": 2, "dash": "dot"}
    side, shift = ("left", 5) if place < sum(ends) / 2 else ("right", -5)
    note = {"x": place, "y": 0.98, "yref": "paper", "text": escaped(text), "xanchor": side, "yanchor": "top"}
    return {
        "shapes": [{"type": "line", "x0": place, "x1": place, "y0": 0, "y1": 1, "yref": "paper", "line": line}],
        "annotations": [note | {"showarrow": False, "align": side, "xshift": shift, "font": {"size": 14}}],
    }


def score_tiles(parts: Mapping[str, Array], mask: Array, *, tokens: Sequence[str], theme: Theme) -> go.Figure:
    """Matrices of scores side by side on one scale about 0; rows are queries, columns keys, masked cells are grey.

    Args:
        parts: title of each to its (len, len) numbers.
        mask: (len, len), True = may attend.
    """
    length, names = len(mask), labels(tokens)
    space, head_room = max(1, length // 12), max(1, length // 6)
    sheet = np.full((length + head_room, len(parts) * (length + space) - space), np.nan)
    words = np.full(sheet.shape, "", dtype=object)
    notes: list[dict[str, Any]] = []
    grounds: list[dict[str, Any]] = []
    for n, (title, values) in enumerate(parts.items()):
        left = n * (length + space)
        sheet[head_room:, left : left + length] = np.where(mask, values, np.nan)
        words[head_room:, left : left + length] = [[f"“{q}” looks at “{k}”" for k in names] for q in names]
        corner = {"x": left - 0.5, "y": head_room - 0.5, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        notes.append(corner | {"text": escaped(title), "font": {"size": 15}})
        edges = {"x0": left - 0.5, "x1": left + length - 0.5, "y0": head_room - 0.5, "y1": len(sheet) - 0.5}
        ground = {"type": "rect", "layer": "below", "fillcolor": theme.masked, "line": {"width": 0}}
        grounds.append(ground | edges)
    blank = {"showticklabels": False, "ticks": ""}
    return figure(
        [_score_cells(sheet, words, theme)],
        layout(
            theme,
            height=BAR_ROOM + 320,
            left=8,
            top=BAR_ROOM,
            bottom=4,
            annotations=notes,
            shapes=grounds,
            xaxis=axis("", **blank),
            yaxis=axis("", range=[len(sheet) - 0.5, -0.5], **blank),
        ),
    )


def _score_cells(sheet: Array, words: Array, theme: Theme) -> dict[str, Any]:
    """A heat map about 0; NaN stays empty."""
    end = float(np.nanmax(np.abs(sheet), initial=1e-9))
    return {
        "type": "heatmap",
        "z": sheet,
        "zmin": -end,
        "zmax": end,
        "colorscale": theme.signed,
        "hoverongaps": False,
        "text": words,
        "hovertemplate": "%{text}: %{z:.3f}<extra></extra>",
        "colorbar": color_bar("score, and what is added to it"),
    }


def class_map(values: Array, *, tokens: Sequence[str], title: str, mask: Array, theme: Theme) -> go.Figure:
    """Which class every query and key fall into, by number; classes that a mask hides are grey.

    Args:
        values: (len, len), whole numbers of at least 0.
        title: what the numbers are.
        mask: (len, len), True = may attend.
    """
    names = labels(tokens)
    bottom, shown = room(names), np.where(mask, values.astype(float), np.nan)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": shown,
        "zmin": 0,
        "zmax": max(float(values.max()), 1.0),
        "colorscale": theme.norms,
        "xgap": gap(len(tokens)),
        "ygap": gap(len(tokens)),
        "hoverongaps": False,
        "hovertemplate": f"query %{{y:d}}, key %{{x:d}}: {escaped(title)} %{{z:d}}<extra></extra>",
        "colorbar": color_bar(title),
    }
    if len(tokens) <= 32:
        trace |= {
            "text": [["" if np.isnan(n) else f"{n:.0f}" for n in row] for row in shown],
            "texttemplate": "%{text}",
        }
    return figure(
        [trace],
        layout(
            theme,
            height=400 + BAR_ROOM + bottom,
            left=room(names),
            top=BAR_ROOM,
            bottom=bottom,
            plot_bgcolor=theme.masked,
            xaxis=token_axis(tokens, title="key", tickangle=-90),
            yaxis=token_axis(tokens, title="query", range=[len(tokens) - 0.5, -0.5]),
        ),
    )


def layouts(order: Array, *, theme: Theme) -> go.Figure:
    """Which coordinates turn together when neighbours are paired, and when halves are.

    Args:
        order: (d_head,), the interleaved coordinate that stands at each place of the halves layout.
    """
    interleaved = np.arange(len(order))
    rows = np.stack((interleaved, order))
    trace = {
        "type": "heatmap",
        "z": rows // 2,
        "colorscale": theme.norms,
        "xgap": 2,
        "ygap": 14,
        "text": rows,
        "texttemplate": "%{text}",
        "textfont": {"size": 16},
        "hovertemplate": "place %{x:d}: coordinate %{text}, of pair %{z:d}<extra></extra>",
        "colorbar": color_bar("pair m, of coordinates 2m and 2m + 1"),
    }
    names = ["neighbours", "halves"]
    return figure(
        [trace],
        layout(
            theme,
            height=BAR_ROOM + 120 + 58,
            left=room(names, title=False),
            top=BAR_ROOM,
            bottom=58,
            xaxis=axis("place in the vector"),
            yaxis=axis("", tickvals=[0, 1], ticktext=names, range=[1.5, -0.5]),
        ),
    )
