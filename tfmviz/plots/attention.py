"""One attention pattern as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import escaped, labels
from tfmviz.plots.theme import ATTENTION, BAR_ROOM, Theme, box, color_bar, figure, gap, layout, room, token_axis
from tfmviz.trace import Array

NAMED = 64
"""Up to so many tokens each cell knows the names of its query and key; the names grow with the square."""

WRITTEN_OUT = 12
"""Up to so many tokens the weights stand in the cells."""

TICKS = [0, 0.1, 0.25, 0.5, 0.75, 1]


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


def cell_texts(pattern: Array) -> list[list[str]]:
    """Weights as short texts, ".07"; nothing in masked cells."""
    return [["" if np.isnan(w) else f"{w:.2f}".removeprefix("0") for w in row] for row in pattern]
