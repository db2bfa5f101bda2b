"""Figures that set two position schemes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.theme import (
    ATTENTION,
    BAR_ROOM,
    LEGEND,
    Theme,
    axis,
    color_bar,
    figure,
    layout,
    room,
)
from tfmviz.plots.tiles import Sheet, lay_out
from tfmviz.trace import Array

Role = Literal["left", "right", "other"]

DASHES = ("dot", "dash", "dashdot", "longdash", "longdashdot", "solid")
"""How lines that nobody chose are told apart."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Curve:
    """A line of a figure.

    Attributes:
        x, y: its points.
        role: the left and the right scheme have colours of their own, the others are grey.
    """

    name: str
    x: Array
    y: Array
    role: Role


def scheme_map(values: Array, *, title: str, axes: tuple[str, str], theme: Theme) -> go.Figure:
    """What a scheme adds or turns with, as a heat map: rows from the first position down; grey is masked.

    Args:
        values: (rows, columns), NaN where masked.
        axes: what columns and rows are.
    """
    trace = {
        "type": "heatmap",
        "z": values,
        **_signed(values, theme),
        "hoverongaps": False,
        "hovertemplate": f"{axes[1]} %{{y:d}}, {axes[0]} %{{x:d}}: %{{z:.3f}}<extra></extra>",
        "colorbar": color_bar(escaped(title)),
    }
    return figure(
        [trace],
        layout(
            theme,
            height=BAR_ROOM + 320,
            left=64,
            top=BAR_ROOM,
            bottom=56,
            plot_bgcolor=theme.masked,
            # So many tick labels that Plotly cannot squeeze the title in between two of them.
            xaxis=axis(axes[0], range=[-0.5, values.shape[1] - 0.5], dtick=max(1, values.shape[1] // 8)),
            yaxis=axis(axes[1], range=[len(values) - 0.5, -0.5]),
        ),
    )


def similarity(mean: Array, lowest: Array, highest: Array, *, title: str, role: Role, theme: Theme) -> go.Figure:
    """A number against distance: the mean over all pairs, and a band from the smallest to the largest.

    Args:
        mean, lowest, highest: one number per distance, from 0.
    """
    distances, colour = np.arange(len(mean)), _colour(role, theme)
    lower = min(0.0, float(lowest.min())) - 0.05  # both columns of the page on one scale, unless one needs more
    band = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    traces = [
        band | {"x": distances, "y": lowest},
        band | {"x": distances, "y": highest, "fill": "tonexty", "fillcolor": _faint(colour)},
        {
            "type": "scatter",
            "mode": "lines",
            "x": distances,
            "y": mean,
            "line": {"color": colour, "width": 3},
            "customdata": np.stack((lowest, highest), axis=-1),
            "hovertemplate": "distance %{x}: %{y:.3f}, from %{customdata[0]:.3f} to %{customdata[1]:.3f}"
            "<extra></extra>",
            "showlegend": False,
        },
    ]
    return figure(traces, _against_distance(title, theme, range=[lower, 1.05]))


def biases(values: Array, *, title: str, chosen: int, role: Role, theme: Theme) -> go.Figure:
    """What is added to the score at each distance, one line per head; the chosen head stands out.

    Args:
        values: (head, distance).
    """
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"head {head}",
            "x": np.arange(len(line)),
            "y": line,
            "line": {"color": _colour(role, theme), "width": 4}
            if head == chosen
            else {"color": theme.text, "width": 1.5, "dash": DASHES[head % len(DASHES)]},
            "hovertemplate": f"head {head}, distance %{{x}}: %{{y:.3f}}<extra></extra>",
        }
        for head, line in enumerate(values)
    ]
    return figure(traces, _against_distance(title, theme) | {"legend": LEGEND})


def losses(curves: Sequence[Curve], *, trained: int, theme: Theme) -> go.Figure:
    """Loss by position, with the trained length marked.

    Args:
        trained: positions that were trained on.
    """
    others = [curve.name for curve in curves if curve.role == "other"]
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": escaped(curve.name),
            "x": curve.x,
            "y": curve.y,
            "line": {"color": theme.text, "width": 1.5, "dash": DASHES[others.index(curve.name)]}
            if curve.role == "other"
            else {"color": _colour(curve.role, theme), "width": 4},
            "hovertemplate": f"{escaped(curve.name)}, position %{{x:.0f}}: %{{y:.2f}} nats<extra></extra>",
        }
        for curve in curves
    ]
    end = max(float(curve.x.max()) for curve in curves)
    wall = {"type": "line", "x0": trained - 0.5, "x1": trained - 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    note = {"x": trained, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top", "showarrow": False}
    ends = [_end(curve) for curve in curves if float(curve.x.max()) < end - trained / 2]
    return figure(
        traces,
        layout(
            theme,
            height=440,
            left=72,
            top=84,
            bottom=56,
            legend=LEGEND,
            showlegend=True,
            shapes=[wall | {"line": {"color": theme.accent, "width": 2}}],
            annotations=[note | {"text": f"trained on {trained} positions", "font": {"color": theme.accent}}, *ends],
            xaxis=axis("position in the text", range=[0, max(end, trained) + 8]),
            yaxis=axis("−log p, nats per token", showgrid=True, gridcolor=theme.grid),
        ),
    )


def _end(curve: Curve) -> dict[str, Any]:
    """A note where a curve ends before the others."""
    where = {"x": float(curve.x[-1]), "y": float(curve.y[-1]), "ax": 46, "ay": 40, "arrowhead": 2}
    return where | {"text": f"{escaped(curve.name)} ends", "showarrow": True, "xanchor": "left"}


def shares(
    patterns: Sequence[Array], mask: Array, *, titles: Sequence[str], tokens: Sequence[str], theme: Theme
) -> go.Figure:
    """Attention patterns in rows of two; grey is masked.

    Args:
        patterns: each (len, len), rows are queries.
        mask: (len, len), True = may attend.
    """
    scale = {"zmin": 0, "zmax": 1, "colorscale": ATTENTION, "colorbar": color_bar("share of attention")}
    return _panels(lay_out(patterns, mask, titles=titles, across=2), mask, scale, tokens=tokens, theme=theme)


def parts(
    matrices: Sequence[Array], mask: Array, *, titles: Sequence[str], tokens: Sequence[str], theme: Theme
) -> go.Figure:
    """Parts of the scores on one scale, in rows of two; grey is masked.

    Args:
        matrices: each (len, len), rows are queries.
        mask: (len, len), True = may attend.
    """
    sheet = lay_out(matrices, mask, titles=titles, across=2)
    scale = _signed(sheet.cells, theme) | {"colorbar": color_bar("part of the score")}
    return _panels(sheet, mask, scale, tokens=tokens, theme=theme)


def _panels(sheet: Sheet, mask: Array, scale: dict[str, Any], *, tokens: Sequence[str], theme: Theme) -> go.Figure:
    names = labels(tokens)
    length, down = len(tokens), len({row for row, _ in sheet.corners})
    hover = np.full(sheet.cells.shape, "", dtype=object)
    closed = np.full(sheet.cells.shape, np.nan)
    pairs = np.array([[f"“{q}” → “{k}”" for k in names] for q in names], dtype=object)
    for top, left in sheet.corners:
        hover[top : top + length, left : left + length] = pairs
        closed[top : top + length, left : left + length] = np.where(mask, np.nan, 1.0)
    shared = {"type": "heatmap", "hoverongaps": False}
    grey = {"z": closed, "colorscale": [[0, theme.masked], [1, theme.masked]], "showscale": False, "hoverinfo": "skip"}
    values = {"z": sheet.cells, "text": hover, "hovertemplate": "%{text}: %{z:.3f}<extra></extra>"}
    rows = sorted({top for top, _ in sheet.corners})
    step = -(-length // 18)
    shown = range(0, length, step)
    return figure(
        [shared | grey, shared | values | scale],
        layout(
            theme,
            height=BAR_ROOM + 56 + 270 * down,
            left=room(names),
            top=BAR_ROOM,
            bottom=44,
            annotations=sheet.notes,
            xaxis=axis(
                "key, in the same order",
                tickvals=[0],
                ticktext=["\N{NO-BREAK SPACE}"],  # with no label at all Plotly draws the title into the picture
                ticks="",
                range=[-0.5, sheet.cells.shape[1] - 0.5],
            ),
            yaxis=axis(
                "query",
                tickvals=[row + i for row in rows for i in shown],
                ticktext=[names[i] for _ in rows for i in shown],
                tickfont={"size": 14 if down * length <= 20 else 11},
                range=[len(sheet.cells) - 0.5, -0.5],
            ),
        ),
    )


def _against_distance(title: str, theme: Theme, **more: Any) -> dict[str, Any]:
    return layout(
        theme,
        height=320,
        left=72,
        top=64,
        bottom=56,
        xaxis=axis("distance i − j"),
        yaxis=axis(title, showgrid=True, gridcolor=theme.grid, zeroline=True, zerolinecolor=theme.text, **more),
    )


def _signed(values: Array, theme: Theme) -> dict[str, Any]:
    """Colours of signed values, symmetric about 0."""
    largest = max(float(np.nanmax(np.abs(values))), 1e-9)
    return {"zmin": -largest, "zmax": largest, "colorscale": theme.signed}


def _colour(role: Role, theme: Theme) -> str:
    return {"left": theme.attention, "right": theme.mlp, "other": theme.text}[role]


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.25)"
