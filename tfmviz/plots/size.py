"""Figures of the page on size."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import Chart, Columns, Spec, hover, number, role, rows, specification
from tfmviz.plots.theme import Theme
from tfmviz.words.numbers import in_words, per_cent

BLOCKS = {"attention": "attention", "cross-attention": "attention", "feed-forward": "mlp", "norms": "other"}
"""Parts that every layer has, and their colours."""

ROOM = 0.035
"""A rectangle that is lower than this share of the picture has no room for words."""

NARROW = 600
"""Pixels: on a narrower picture the words are shorter."""


def areas(counts: Mapping[str, int], *, theme: Theme) -> Chart:
    """Parameters as areas, as large as their counts: left what every layer repeats, right what is used once."""
    total = max(sum(counts.values()), 1)
    edges: dict[str, list[float]] = {edge: [] for edge in ("x", "x2", "y", "y2")}
    texts: dict[str, list[str]] = {"role": [], "word": [], "short": [], "hover": []}
    left = 0.0
    for group in ([p for p in counts if p in BLOCKS], [p for p in counts if p not in BLOCKS]):
        mine = sum(counts[part] for part in group)
        right, top = left + mine / total, 0.0
        for part in sorted((part for part in group if counts[part]), key=lambda part: -counts[part]):
            bottom, said = top + counts[part] / mine, f"{part} {per_cent(counts[part] / total)}"
            for edge, value in zip(edges, (left, right, top, bottom), strict=True):
                edges[edge].append(value)
            texts["role"].append(BLOCKS.get(part, "table"))
            has_room = bottom - top > ROOM * 2 and right - left > 0.12
            texts["word"].append(f"{said}, {in_words(counts[part])}" if has_room else "")
            texts["short"].append(said.replace(" ", "\n") if has_room else "")
            texts["hover"].append(f"{part}: {in_words(counts[part])} parameters, {per_cent(counts[part] / total)}")
            top = bottom
        left = right
    middles = [(np.array(edges[a]) + np.array(edges[b])) / 2 for a, b in (("x", "x2"), ("y", "y2"))]
    words: Columns = {"x": middles[0], "y": middles[1], "word": texts["word"], "short": texts["short"]}
    return Chart(spec=_areas(theme), data={"rows": {**edges, **texts}, "words": words})


@cache
def _areas(theme: Theme) -> Spec:
    bare = {"labels": False, "ticks": False, "grid": False, "domain": False}
    x = number(alt.X, "x", axis=bare, domain=[0, 1])
    y = number(alt.Y, "y", axis=bare, domain=[0, 1], reverse=True)
    colours = role("role", {"attention": theme.attention, "mlp": theme.mlp, "table": theme.vector, "other": theme.text})
    box = rows().mark_rect(opacity=0.35, stroke=theme.text, strokeWidth=1)
    word = rows("words").mark_text(baseline="middle", fontSize=max(18, theme.letters), lineBreak="\n", aria=False)
    short = {"test": f"width < {NARROW}", "value": {"expr": "datum.short"}}
    return specification(
        theme,
        box.encode(x=x, y=y, color=colours, x2=alt.X2("x2"), y2=alt.Y2("y2"), **hover()),
        word.encode(x=x, y=y, text=alt.Text("word:N", condition=short)),
        height=320,
        says="Parameters as areas: left repeated in every layer, right used once.",
    )
