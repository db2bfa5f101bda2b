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
from tfmviz.plots.theme import ATTENTION, BAR_ROOM, Theme, axis, box, color_bar, figure, gap, layout, room, token_axis
from tfmviz.trace import Array

TILE = 48
"""Most pixels that a thumbnail measures across; longer texts are pooled."""

NAMED = 64
"""Up to so many tokens each cell knows the names of its query and key; the names grow with the square."""

WRITTEN_OUT = 12
"""Up to so many tokens the weights stand in the cells."""

TICKS = [0, 0.1, 0.25, 0.5, 0.75, 1]

N_SHADES = 254
MASKED, CLEAR = 254, 255
"""Thumbnails are palette images: shades of attention, then the masked cell and the space between tiles."""

PALETTE = np.array(
    [unlabel_rgb(colour) for colour in sample_colorscale(ATTENTION, np.linspace(0, 1, N_SHADES))], dtype=np.uint8
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
    longest = max(shown.shape)
    trace = {
        "type": "heatmap",
        "z": shown,
        "zmin": 0,
        "zmax": 1,
        "colorscale": ATTENTION,
        "xgap": gap(len(k_tokens)),
        "ygap": gap(len(q_tokens)),
        "hovertemplate": "query %{y:d} looks at key %{x:d}: %{z:.3f}<extra></extra>",
        "hoverongaps": False,
        "colorbar": color_bar(escaped(f"{title}: share of attention"))
        | {"tickvals": TICKS, "ticktext": [str(tick) for tick in TICKS]},
    }
    if longest <= NAMED:
        trace["customdata"] = [[f"“{q}” looks at “{k}”" for k in k_names] for q in q_names]
        trace["hovertemplate"] = "%{customdata}: %{z:.3f}<br>query %{y:d}, key %{x:d}<extra></extra>"
    if longest <= WRITTEN_OUT:
        trace |= {"text": cell_texts(shown), "texttemplate": "%{text}"}
    bottom = room(k_names)
    return figure(
        [trace],
        layout(
            theme,
            height=440 + BAR_ROOM + bottom,
            left=room(q_names),
            top=BAR_ROOM,
            bottom=bottom,
            plot_bgcolor=theme.masked,
            xaxis=token_axis(k_tokens, title="key: is looked at", tickangle=-90),
            yaxis=token_axis(q_tokens, title="query: looks", range=[len(q_tokens) - 0.5, -0.5]),
            shapes=[] if query is None else [box(-0.5, query - 0.5, len(k_tokens) - 0.5, query + 0.5, theme)],
        ),
    )


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
    rows, heads = np.indices((n_rows, n_heads)).reshape(2, -1).tolist()
    points = {
        "type": "scatter",
        "x": heads,
        "y": rows,
        "mode": "markers",
        "marker": {"symbol": "square", "size": 34, "opacity": 0},
        "customdata": [[row, head] for row, head in zip(rows, heads, strict=True)],
        "text": [escaped(text) for row in hover for text in row],
        "hovertemplate": "%{text}<extra></extra>",
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
    }
    picture = {"source": sprite(patterns, masks, theme), "x": -0.5, "y": -0.5, "sizex": n_heads, "sizey": n_rows}
    row, head = selected
    return figure(
        [points],
        layout(
            theme,
            height=64 * n_rows + 66,
            left=room(row_names, title=False),
            top=56,
            bottom=10,
            xaxis=axis("head", tickvals=list(range(n_heads)), range=[-0.5, n_heads - 0.5], side="top", ticks=""),
            yaxis=axis(
                "", tickvals=list(range(n_rows)), ticktext=list(row_names), range=[n_rows - 0.5, -0.5], ticks=""
            ),
            images=[picture | {"xref": "x", "yref": "y", "sizing": "stretch", "layer": "below"}],
            shapes=[box(head - 0.5, row - 0.5, head + 0.5, row + 0.5, theme)],
        ),
    )


def sprite(patterns: Array, masks: Array, theme: Theme) -> str:
    """Every head as a tile of one PNG, as a data URI. Long texts are pooled by their largest weight, so that a
    bright cell never disappears."""
    weights = np.rint(patterns * (N_SHADES - 1)).astype(np.int16)
    tiles = np.where(masks[:, None], weights, -1)  # (layer, head, q_len, k_len)
    tiles = _resize(_resize(tiles, axis=2), axis=3)
    tiles = np.where(tiles < 0, MASKED, tiles).astype(np.uint8)
    tiles = np.pad(tiles, ((0, 0), (0, 0), (3, 3), (3, 3)), constant_values=CLEAR)
    n_rows, n_heads, height, width = tiles.shape
    image = Image.fromarray(tiles.transpose(0, 2, 1, 3).reshape(n_rows * height, n_heads * width))
    image.putpalette([*PALETTE.ravel().tolist(), *ImageColor.getrgb(theme.masked), 0, 0, 0])
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", transparency=CLEAR, compress_level=1)
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
