"""Pictures of the residual stream."""

from __future__ import annotations

from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import Chart, Columns, Spec, colour, hover, name, number, numbered, rows, specification
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def writes(attention: Array, mlp: Array, attention_share: Array, *, theme: Theme) -> Chart:
    """How much attention and the feed-forward layer of each layer wrote into one token's vector.

    Args:
        attention, mlp: (n_layers,), lengths of what was written.
        attention_share: (n_layers,), attention's share of the layer's whole step.
    """
    layers = range(len(attention))
    kinds = ("attention", "MLP")
    lengths = np.concatenate((attention, mlp))
    shares = ["" if np.isnan(s) else f"{s:.0%}" for s in np.concatenate((attention_share, 1 - attention_share))]
    bars: Columns = {
        "layer": numbered([str(i) for i in layers]) * 2,
        "series": [kind for kind in numbered(kinds) for _ in layers],
        "value": lengths,
        "top": np.tile(np.maximum(attention, mlp), 2),
        "word": [*shares[: len(attention)], *[""] * len(attention)],  # the MLP's is what is left
        "hover": [
            f"layer {i % len(attention)}, {kinds[i // len(attention)]}: norm {length:.2f}"
            + (f", {share} of the step" if share else "")
            for i, (length, share) in enumerate(zip(lengths, shares, strict=True))
        ],
    }
    return Chart(spec=_writes(theme), data={"rows": bars})


@cache
def _writes(theme: Theme) -> Spec:
    x = name(alt.X, "layer", "layer", axis={"labelAngle": 0}, paddingInner=0.1, paddingOuter=0.05)
    y = number(alt.Y, "value", "norm of what is added, with attention's share of the step", zero=True, nice=True)
    side = alt.XOffset("series:N")
    color = colour("series", [theme.attention, theme.mlp], longest=9, symbol="square")
    return specification(
        theme,
        rows().mark_bar().encode(x=x, xOffset=side, y=y, color=color, **hover()),
        rows().mark_text(dy=-8).encode(x=x, y=alt.Y("top:Q"), text=alt.Text("word:N")),
        height=340,
        says="The norm of what attention and the feed-forward layer add.",
    )
