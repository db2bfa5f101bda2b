"""Figures of the step-by-step page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, Cells, Frame, chosen_cell, masked, of_tokens, share, written
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


def bars(names: Sequence[str], values: Array, *, chosen: int, theme: Theme) -> Chart:
    """One length per head; the chosen head stands out."""
    return bar_chart(
        names,
        values,
        roles=["chosen" if n == chosen else "other" for n in range(len(names))],
        colours=(("other", theme.attention), ("chosen", theme.accent)),
        words=[f"{value:.2f}" for value in values],
        said=[f"{name}: {value:.3f}" for name, value in zip(names, values, strict=True)],
        title="length of what is added",
        room=1.25,
        theme=theme,
    )


def tiles(
    patterns: Sequence[Array],
    mask: Array,
    *,
    titles: Sequence[str],
    tokens: tuple[Sequence[str], Sequence[str]],
    row: int,
) -> Cells:
    """Several heads on one scale, in rows of tiles; rows are queries, columns keys, masked cells are grey.

    Args:
        patterns: each (q_len, k_len).
        mask: (q_len, k_len), True = may attend.
        titles: one per pattern.
        tokens: of queries and of keys.
        row: the chosen query.
    """
    queries, keys = tokens
    return Cells(
        matrices=masked(patterns, mask),
        rows=of_tokens("query", queries),
        columns=of_tokens("key", keys),
        scale=share(),
        titles=tuple(titles),
        frames=(Frame(top=row, left=0, bottom=row + 1, right=len(keys)),),
        square=True,
        across=min(5, len(patterns)),
    )


def head_scores(scores: Array, *, title: str, chosen: tuple[int, int]) -> Cells:
    """How strongly every head follows one simple pattern.

    Args:
        scores: (layer, head), in [0, 1] or NaN.
        chosen: layer and head to mark.
    """
    return Cells(
        matrices=scores[None],
        rows=Axis(title="layer"),
        columns=Axis(title="head"),
        scale=share(f"{title}, 0 to 1"),
        texts=written(scores, ".2f", absent="–"),
        frames=chosen_cell(chosen),
        row_height=40,
    )
