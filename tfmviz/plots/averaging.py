"""The values of a head in a plane, and the average that it writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import FEW, Chart, Spec, hover, number, role, rows, specification
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible
from tfmviz.words.numbers import per_cent

NAMED = 8
"""Most words that are written beside their values: those with the greatest weights."""

CROSS = 0.3
"""The cross is as large as a value of this weight."""


def average(
    places: Array,
    weights: Array,
    middle: Array,
    *,
    around: Sequence[int],
    tokens: Sequence[str],
    names: Sequence[str],
    theme: Theme,
) -> Chart:
    """Values as dots as large as their weights, the area that they span, and their average as a cross.

    Args:
        places: (k, 2), of the values.
        weights: (k,).
        middle: (2,), of the average.
        around: the corners of the area, in turn.
        tokens: one per value.
        names: of the tokens under the pointer.
    """
    named = set(np.argsort(-weights, kind="stable")[:NAMED].tolist())
    edge = places[[*around, around[0]]]
    return Chart(
        spec=_average(theme),
        data={
            "rows": {
                "x": [*places[:, 0], middle[0]],
                "y": [*places[:, 1], middle[1]],
                "weight": [*weights, CROSS],
                "role": ["value"] * len(names) + ["average"],
                "word": [*(visible(token) if n in named else "" for n, token in enumerate(tokens)), "average"],
                "hover": [*(f"{n}: {per_cent(w)}" for n, w in zip(names, weights, strict=True)), "their average"],
            },
            "edge": {"x": edge[:, 0], "y": edge[:, 1], "order": list(range(len(edge)))},
        },
    )


@cache
def _average(theme: Theme) -> Spec:
    x, y = (
        number(at, at.__name__.lower(), f"component {n}", axis=FEW, padding=40) for n, at in ((1, alt.X), (2, alt.Y))
    )
    looks = role("role", {"value": theme.value, "average": theme.text})
    shape = alt.Shape(
        field="role", type="nominal", scale={"domain": ["value", "average"], "range": ["circle", "cross"]}, legend=None
    )
    size = alt.Size(field="weight", type="quantitative", scale={"domain": [0, 1], "range": [60, 900]}, legend=None)
    outline = rows("edge").mark_line(
        color=theme.value, fill=theme.value, fillOpacity=0.12, strokeOpacity=0.6, aria=False
    )
    return specification(
        theme,
        outline.encode(x=x, y=y, order=alt.Order("order:Q")),
        rows().mark_point(filled=True, opacity=0.9).encode(x=x, y=y, color=looks, shape=shape, size=size, **hover()),
        rows().mark_text(dy={"expr": "datum.role === 'average' ? 22 : -17"}).encode(x=x, y=y, text=alt.Text("word:N")),
        height=380,
        says="Value vectors as dots in the plane of their two principal components, and their weighted average.",
    )
