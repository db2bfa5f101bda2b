"""Pictures of the residual stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from tfmviz.plots.labels import labels
from tfmviz.plots.theme import BAR_ROOM, LEGEND, Theme, axis, box, color_bar, figure, gap, layout, room, token_axis
from tfmviz.trace import Array


def norms(
    values: Array, attention_share: Array, *, tokens: Sequence[str], theme: Theme, position: int | None = None
) -> go.Figure:
    """Length of every token's vector, from the embedding (top) to the last layer (bottom).

    Args:
        values: (n_layers + 1, len).
        attention_share: (n_layers, len); shown on hover with its complement, the feed-forward layer's share.
        position: column to mark.
    """
    stages = ["embedding", *(f"after layer {i}" for i in range(len(values) - 1))]
    shares = np.vstack((np.full((1, len(tokens)), np.nan), attention_share))
    more = [
        ["" if np.isnan(s) else f"<br>of this layer's step: attention {s:.0%}, MLP {1 - s:.0%}" for s in row]
        for row in shares
    ]
    return lengths(values, stages=stages, tokens=tokens, theme=theme, position=position, more=more)


def lengths(
    values: Array,
    *,
    stages: Sequence[str],
    tokens: Sequence[str],
    theme: Theme,
    position: int | None = None,
    more: Sequence[Sequence[str]] | None = None,
) -> go.Figure:
    """Length of every token's vector at every stage, the first on top.

    Args:
        values: (stage, len).
        position: column to mark.
        more: what else is said on hover, for each cell.
    """
    names = labels(tokens)
    extra = more or [[""] * len(tokens)] * len(stages)
    hover = [
        [f"“{name}”, {stage}<br>length {value:.2f}{rest}" for name, value, rest in zip(names, row, rests, strict=True)]
        for stage, row, rests in zip(stages, values, extra, strict=True)
    ]
    trace = {
        "type": "heatmap",
        "z": values,
        "zmin": 0,
        "zmax": max(float(values.max()), 1e-9),  # without it Plotly ignores zmin
        "colorscale": theme.norms,
        "xgap": gap(len(tokens)),
        "ygap": 1,
        "text": hover,
        "hovertemplate": "%{text}<extra></extra>",
        "colorbar": color_bar("length of the vector"),
    }
    bottom = room(names)
    return figure(
        [trace],
        layout(
            theme,
            height=34 * len(stages) + BAR_ROOM + bottom,
            left=room(stages, title=False),
            top=BAR_ROOM,
            bottom=bottom,
            xaxis=token_axis(tokens, title="token", tickangle=-90),
            yaxis=axis("", tickvals=list(range(len(stages))), ticktext=list(stages), range=[len(stages) - 0.5, -0.5]),
            shapes=[] if position is None else [box(position - 0.5, -0.5, position + 0.5, len(stages) - 0.5, theme)],
        ),
    )


def writes(attention: Array, mlp: Array, attention_share: Array, *, theme: Theme) -> go.Figure:
    """How much attention and the feed-forward layer of each layer wrote into one token's vector.

    Args:
        attention, mlp: (n_layers,), lengths of what was written.
        attention_share: (n_layers,), attention's part of the layer's whole step.
    """
    layers = list(range(len(attention)))
    parts = (
        ("attention", attention, attention_share, theme.attention),
        ("MLP", mlp, 1 - attention_share, theme.mlp),
    )
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": layers,
            "y": lengths,
            "marker": {"color": colour},
            "text": ["" if np.isnan(share) else f"{share:.0%}" for share in shares],
            "textposition": "outside",
            "textfont": {"size": 12},
            "textangle": 0,
            "constraintext": "none",
            "cliponaxis": False,
            "hovertemplate": f"layer %{{x}}, {name}<br>length %{{y:.2f}}, %{{text}} of the step<extra></extra>",
        }
        for name, lengths, shares, colour in parts
    ]
    return figure(
        traces,
        layout(
            theme,
            height=330,
            left=72,
            top=44,
            bottom=56,
            barmode="group",
            legend=LEGEND,
            xaxis=axis("layer", tickvals=layers),
            yaxis=axis(
                "length of what is added",
                range=[0, 1.15 * max(float(attention.max()), float(mlp.max()), 1e-9)],
                showgrid=True,
                gridcolor=theme.grid,
            ),
        ),
    )
