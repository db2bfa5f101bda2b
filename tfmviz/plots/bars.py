"""Horizontal bars with their values, end to end, or as areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    Chart,
    Columns,
    Spec,
    hover,
    name,
    number,
    numbered,
    reach,
    role,
    rows,
    rule,
    specification,
    words,
)
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal, in_words, per_cent


def bar_chart(
    names: Sequence[str],
    values: Array,
    title: str,
    *,
    words: Sequence[str],
    colours: str | Sequence[str],
    tooltips: Sequence[str] = (),
    room: float = 1.2,
    theme: Theme,
) -> Chart:
    """Numbers by name, those below 0 to the left.

    Args:
        words: written next to each bar.
        colours: of all bars, or of each.
        tooltips: for each bar; else its name and its word.
        room: length of the scale over that of the longest bar, for the words.
    """
    end = room * max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-9)
    bars: Columns = {
        "name": numbered(names),
        "value": values,
        "colour": [colours] * len(names) if isinstance(colours, str) else colours,
        "word": words,
        "hover": tooltips or [f"{name}: {word}" for name, word in zip(names, words, strict=True)],
    }
    ends = [-end if (values < 0).any() else 0.0, end]
    return Chart(spec=_bars(theme, title, len(names)), data={"rows": bars, "ends": {"x": ends}})


@cache
def _bars(theme: Theme, title: str, n: int) -> Spec:
    y = name(alt.Y, "name")
    x = number(alt.X, "value", title, axis=FEW)
    colour, side = alt.Color("colour:N", scale=None), {"expr": "datum.value < 0 ? 'right' : 'left'"}
    return specification(
        theme,
        reach(number(alt.X, "x", title)),
        rows().mark_bar().encode(x=x, y=y, color=colour, **hover()),
        rule(theme, x=0),
        words({"align": side, "dx": {"expr": "datum.value < 0 ? -5 : 5"}}, x=x, y=y),
        height=28 * n + 60,
        says=f"Bars from top to bottom: {title}.",
    )


def of_signs(values: Array, theme: Theme) -> list[str]:
    return [theme.signed[0] if value < 0 else theme.signed[-1] for value in values]


def waterfall(along: Array, *, kinds: Sequence[str], names: Sequence[str], steps: Sequence[str], theme: Theme) -> Chart:
    """The progress of the vector towards its final direction, by part: each row begins where the one above ended.

    Bars towards it lie to the right of a row's beginning; those away from it, paler and dashed, to the left, end to
    end.

    Args:
        along: (part,), signed.
        kinds: see `Theme.kinds`.
        steps: parts of one step share a row.
    """
    levels = list(dict.fromkeys(steps))
    begins, row_of = _begins(along, steps, levels)
    step = dict(zip(levels, numbered(levels), strict=True))
    ends = np.cumsum([sum(along[n] for n, r in enumerate(row_of) if r == row) for row in range(len(levels))])
    data: dict[str, Columns] = {
        "rows": {
            "step": [step[name] for name in steps],
            "begin": begins,
            "end": [begin + float(length) for begin, length in zip(begins, along, strict=True)],
            "kind": kinds,
            "solid": [0.35 if length < 0 else 1.0 for length in along],
            "hover": [f"{name}: {decimal(length, '+.2f')}" for name, length in zip(names, along, strict=True)],
        },
        "trail": {
            "step": list(step.values()),
            "end": ends,
            "hover": [f"so far: {decimal(end, '.2f')}" for end in ends],
        },
    }
    return Chart(spec=_waterfall(theme, len(levels)), data=data)


@cache
def _waterfall(theme: Theme, n_rows: int) -> Spec:
    y = name(alt.Y, "step")
    begin, x = (number(alt.X, field, "distance", axis=FEW | {"grid": True}, padding=8) for field in ("begin", "end"))
    away = {"expr": "datum.end < datum.begin ? [3, 2] : [1, 0]"}
    parts = {"color": role("kind", theme.kinds), "fillOpacity": alt.FillOpacity("solid:Q", scale=None)}
    trail = rows("trail")
    line = trail.mark_line(color=theme.text, strokeWidth=1.5, strokeDash=[2, 3], aria=False)
    here = trail.mark_point(filled=True, shape="diamond", size=90, color=theme.text, opacity=1)
    bar = rows().mark_bar(stroke=theme.text, strokeWidth=0.7, strokeDash=away)
    return specification(
        theme,
        bar.encode(x=begin, x2=alt.X2("end"), y=y, **parts, **hover()),
        rule(theme, x=0),
        line.encode(x=x, y=y, order=alt.Order("step:O")),
        here.encode(x=x, y=y, **hover()),
        height=30 * n_rows + 62,
        says="How far every part leads towards the final vector.",
    )


def _begins(along: Array, steps: Sequence[str], levels: Sequence[str]) -> tuple[list[float], list[int]]:
    row_of = [levels.index(step) for step in steps]
    begins, start = [0.0] * len(steps), 0.0
    for row in range(len(levels)):
        ahead = back = start
        for n in (n for n, r in enumerate(row_of) if r == row):
            if along[n] >= 0:
                begins[n], ahead = ahead, ahead + float(along[n])
            else:
                begins[n], back = back, back + float(along[n])
        start = ahead + back - start
    return begins, row_of


BLOCKS = {"attention": "attention", "cross-attention": "attention", "feed-forward": "mlp", "norms": "other"}
"""Parts that every layer has, and their colours."""

ROOM = 0.035
"""A rectangle lower than this share of the picture has no room for words."""

NARROW = 600
"""Pixels: on a narrower picture the words are shorter."""


def areas(counts: Mapping[str, int], *, theme: Theme) -> Chart:
    """Parameters as areas: left those that every layer repeats, right those used once."""
    total = max(sum(counts.values()), 1)
    edges: dict[str, list[float]] = {edge: [] for edge in ("x", "x2", "y", "y2")}
    texts: dict[str, list[str]] = {"role": [], "word": [], "short": [], "hover": []}
    left = 0.0
    for group in ([p for p in counts if p in BLOCKS], [p for p in counts if p not in BLOCKS]):
        mine = sum(counts[part] for part in group)
        right, top = left + mine / total, 0.0
        for part in sorted((part for part in group if counts[part]), key=lambda part: -counts[part]):
            bottom, share = top + counts[part] / mine, per_cent(counts[part] / total)
            label = f"{part} {share}"
            for edge, value in zip(edges, (left, right, top, bottom), strict=True):
                edges[edge].append(value)
            texts["role"].append(BLOCKS.get(part, "table"))
            has_room = bottom - top > ROOM * 2 and right - left > 0.12
            texts["word"].append(f"{label}, {in_words(counts[part])}" if has_room else "")
            texts["short"].append(label.replace(" ", "\n") if has_room else "")
            texts["hover"].append(f"{part}: {in_words(counts[part])} parameters, {share}")
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
