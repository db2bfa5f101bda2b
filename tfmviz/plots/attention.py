"""Pictures of attention: one head as a heat map, all heads as thumbnails."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from PIL import Image, ImageColor
from plotly.colors import sample_colorscale, unlabel_rgb

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.theme import ATTENTION, Theme, color_bar, gap, layout, token_axis
from tfmviz.trace import Array

TILE = 48
"""Most pixels that a thumbnail measures across; longer texts are pooled."""

WRITTEN_OUT = 12
"""Up to so many tokens the weights stand in the cells."""

TICKS = [0, 0.1, 0.25, 0.5, 0.75, 1]

PALETTE = np.array(
    [unlabel_rgb(colour) for colour in sample_colorscale(ATTENTION, np.linspace(0, 1, 256))], dtype=np.uint8
)


def heatmap(
    pattern: Array,
    *,
    mask: Array,
    q_tokens: Sequence[str],
    k_tokens: Sequence[str],
    title: str,
    theme: Theme,
    query: int | None = None,
) -> go.Figure:
    """One head's attention: rows are queries (who looks), columns keys (who is looked at).

    Args:
        pattern: (q_len, k_len), in [0, 1], rows sum to 1.
        mask: (q_len, k_len), True = may attend; the other cells are grey.
        query: row to mark.
    """
    shown = np.where(mask, pattern, np.nan)
    q_names, k_names = labels(q_tokens), labels(k_tokens)
    trace = go.Heatmap(
        z=shown,
        zmin=0,
        zmax=1,
        colorscale=ATTENTION,
        xgap=gap(len(k_tokens)),
        ygap=gap(len(q_tokens)),
        customdata=np.array([[f"“{q}” looks at “{k}”" for k in k_names] for q in q_names]),
        hovertemplate="%{customdata}: %{z:.3f}<br>query %{y:d}, key %{x:d}<extra></extra>",
        hoverongaps=False,
        text=cell_texts(shown) if max(shown.shape) <= WRITTEN_OUT else None,
        texttemplate="%{text}" if max(shown.shape) <= WRITTEN_OUT else None,
        colorbar=color_bar(escaped(f"{title}: share of attention"))
        | {"tickvals": TICKS, "ticktext": [str(tick) for tick in TICKS]},
    )
    figure = go.Figure(trace)
    figure.update_layout(
        layout(
            theme,
            height=590,
            plot_bgcolor=theme.masked,
            xaxis=token_axis(k_tokens, title="key: is looked at", tickangle=-90),
            yaxis=token_axis(q_tokens, title="query: looks", range=[len(q_tokens) - 0.5, -0.5]),
        )
    )
    if query is not None:
        figure.add_shape(**box(-0.5, query - 0.5, len(k_tokens) - 0.5, query + 0.5, theme))
    return figure


def thumbnails(
    patterns: Array,
    masks: Array,
    *,
    row_names: Sequence[str],
    hover: Sequence[Sequence[str]],
    selected: tuple[int, int],
    theme: Theme,
) -> go.Figure:
    """All heads at once: a row of small heat maps per layer.

    Over each lies an invisible point that carries the hover text and, clicked, reports `customdata` = [row, head].

    Args:
        patterns: (layer, head, q_len, k_len).
        masks: (layer, q_len, k_len), True = may attend.
        row_names: one per layer.
        hover: per layer and head; plain text.
        selected: row and head to mark.
    """
    n_rows, n_heads = patterns.shape[:2]
    rows, heads = np.indices((n_rows, n_heads)).reshape(2, -1)
    points = go.Scatter(
        x=heads,
        y=rows,
        mode="markers",
        marker={"symbol": "square", "size": 34, "opacity": 0},
        customdata=np.stack((rows, heads), axis=1).tolist(),  # an array would come back from the browser as an object
        text=[escaped(text) for row in hover for text in row],
        hovertemplate="%{text}<extra></extra>",
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
    )
    figure = go.Figure(points)
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "automargin": True, "ticks": ""}
    figure.update_layout(
        layout(
            theme,
            height=64 * n_rows + 60,
            xaxis=axis
            | {
                "title": {"text": "head"},
                "tickvals": list(range(n_heads)),
                "range": [-0.5, n_heads - 0.5],
                "side": "top",
            },
            yaxis=axis
            | {
                "tickvals": list(range(n_rows)),
                "ticktext": list(row_names),
                "range": [n_rows - 0.5, -0.5],
                "automargin": True,
            },
        )
    )
    figure.add_layout_image(
        source=sprite(patterns, masks, theme),
        x=-0.5,
        y=-0.5,
        sizex=n_heads,
        sizey=n_rows,
        xref="x",
        yref="y",
        sizing="stretch",
        layer="below",
    )
    row, head = selected
    figure.add_shape(**box(head - 0.5, row - 0.5, head + 0.5, row + 0.5, theme))
    return figure


def sprite(patterns: Array, masks: Array, theme: Theme) -> str:
    """Every head as a tile of one PNG, as a data URI. Long texts are pooled by their largest weight, so that a
    bright cell never disappears."""
    tiles = np.where(masks[:, None], np.rint(patterns * 255), -1).astype(np.int16)  # (layer, head, q_len, k_len)
    tiles = _resize(_resize(tiles, axis=2), axis=3)
    colours = np.concatenate(
        (PALETTE, np.array([ImageColor.getrgb(theme.masked)], dtype=np.uint8))
    )  # -1 is the last one
    image = np.pad(colours[tiles], ((0, 0), (0, 0), (3, 3), (3, 3), (0, 0)), constant_values=0)
    opaque = np.pad(np.full(tiles.shape, 255, np.uint8), ((0, 0), (0, 0), (3, 3), (3, 3)))
    pixels = np.concatenate((image, opaque[..., None]), axis=-1)  # (layer, head, height, width, rgba)
    n_rows, n_heads, height, width, _ = pixels.shape
    buffer = io.BytesIO()
    Image.fromarray(pixels.transpose(0, 2, 1, 3, 4).reshape(n_rows * height, n_heads * width, 4)).save(
        buffer, format="PNG", compress_level=1
    )
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _resize(tiles: Array, *, axis: int) -> Array:
    """Brings an axis to about `TILE`: repeats cells, or takes the largest of neighbouring ones."""
    length = tiles.shape[axis]
    if length <= TILE:
        return tiles.repeat(TILE // length, axis=axis)
    starts = np.linspace(0, length, TILE, endpoint=False).astype(int)
    return np.maximum.reduceat(tiles, starts, axis=axis)


def cell_texts(pattern: Array) -> list[list[str]]:
    """Weights as short texts, ".07"; nothing in masked cells."""
    return [["" if np.isnan(w) else f"{w:.2f}".removeprefix("0") for w in row] for row in pattern]


def box(x0: float, y0: float, x1: float, y1: float, theme: Theme) -> dict[str, object]:
    """The mark around what the reader has chosen."""
    return {"type": "rect", "x0": x0, "y0": y0, "x1": x1, "y1": y1, "line": {"color": theme.accent, "width": 3}}
