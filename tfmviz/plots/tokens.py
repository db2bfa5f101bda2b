"""Figures of the page about tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, number, reach, role, rows, specification
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole


def embedding_map(
    places: Array, *, words: Sequence[str], roles: Sequence[str], window: tuple[Array, Array], theme: Theme
) -> Chart:
    """Entries of a vocabulary as dots on a plane, some of them with their word.

    Args:
        places: (word, 2).
        roles: "text" for a word of the reader's text, "chosen" for the one they chose, "near" for those next to that
            one, "other" for all others: these have a dot alone. The first of them are named first, as far as their
            names do not touch.
        window: the lowest and the highest place that is shown, each (2,).
    """
    low, high = window
    named = _named(places, words, roles, window, theme)
    points: Columns = {
        "x": places[:, 0],
        "y": places[:, 1],
        "word": [visible(word) if n in named else "" for n, word in enumerate(words)],
        "role": list(roles),
        "hover": [f"“{whole(word)}”" for word in words],
    }
    return Chart(spec=_map(theme), data={"rows": points, "ends": {"x": [low[0], high[0]], "y": [low[1], high[1]]}})


MAP = (1000, 440)
"""Pixels that a map has at least on a laptop; names that would touch there are left out."""


def _named(
    places: Array, words: Sequence[str], roles: Sequence[str], window: tuple[Array, Array], theme: Theme
) -> set[int]:
    """The words whose names touch no name that comes before them."""
    low, high = window
    at = (places - low) / np.maximum(high - low, 1e-9) * MAP
    order = sorted((n for n, role in enumerate(roles) if role != "other"), key=lambda n: NAMED.index(roles[n]))
    found: dict[int, float] = {}
    for n in order:
        width = (len(visible(words[n])) + 2) * theme.letters / 2
        apart = (
            abs(at[n, 1] - at[m, 1]) > theme.letters + 3 or at[n, 0] + width < at[m, 0] or at[m, 0] + wide < at[n, 0]
            for m, wide in found.items()
        )
        if all(apart):
            found[n] = width
    return set(found)


NAMED = ("chosen", "text", "near")


@cache
def _map(theme: Theme) -> Spec:
    x, y = number(alt.X, "x", "component 1", axis=FEW), number(alt.Y, "y", "component 2", axis=FEW)
    colours = {"other": theme.grid, "near": theme.text, "text": theme.vector, "chosen": theme.accent}
    shade = role("role", colours)
    bold: Spec = {"expr": "datum.role === 'text' || datum.role === 'chosen' ? 'bold' : 'normal'"}
    word = rows().mark_text(fontWeight=bold, align="left", baseline="middle", dx=7, aria=False)
    return specification(
        theme,
        reach(number(alt.X, "x", "component 1"), number(alt.Y, "y", "component 2")),
        rows().mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=shade, **hover()),
        word.encode(x=x, y=y, text=alt.Text("word:N"), color=shade),
        height=500,
        says="Entries of the vocabulary on two principal components.",
    )
