"""Figures of the step-by-step page."""

from __future__ import annotations

from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, colour, hover, number, numbered, rows, specification
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def histogram(middles: Array, raw: Array, scaled: Array, *, theme: Theme) -> Chart:
    """How large scores get, before and after ÷ √d: share of the pairs per bin.

    Args:
        middles: of the bins, evenly spaced.
        raw, scaled: share of the pairs in each bin.
    """
    half = float(middles[1] - middles[0]) / 2 if len(middles) > 1 else 0.5
    kinds = ("q · k", "q · k / √d")
    bars: Columns = {
        "series": [kind for kind in numbered(kinds) for _ in middles],
        "low": np.tile(middles - half, 2),
        "high": np.tile(middles + half, 2),
        "share": np.concatenate((raw, scaled)),
        "hover": [
            f"{kind} near {middle:.2f}: {share:.1%} of the pairs"
            for kind, shares in zip(kinds, (raw, scaled), strict=True)
            for middle, share in zip(middles, shares, strict=True)
        ],
    }
    return Chart(spec=_histogram(theme), data={"rows": bars})


@cache
def _histogram(theme: Theme) -> Spec:
    bars = (
        rows()
        .mark_bar(opacity=0.75)
        .encode(
            x=number(alt.X, "low", "score", axis=FEW),
            x2=alt.X2("high"),
            y=number(alt.Y, "share", "share of the pairs", axis={"format": "~%"}, zero=True),
            y2=alt.Y2Datum(0),
            color=colour("series", [theme.text, theme.plain], longest=10, symbol="square"),
            **hover(),
        )
    )
    return specification(theme, bars, height=320, says="Share of the pairs by their score, before and after ÷ √d.")
