"""Charts of the stream page: lengths by depth, and what every part of the model adds to one token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tfmviz.constants import LABEL_LENGTH
from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    SLANTED,
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
    strokes,
)
from tfmviz.plots.lines import DASHES, MOST_POINTS
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal


def bumps(order: Array, cosines: Array, *, stages: Sequence[str], tokens: Sequence[str], theme: Theme) -> Chart:
    """The nearest tokens, stage by stage: a line follows a token while it is among them.

    Those that are nearest at the end have a colour each, the nearest the strongest; the others are grey.

    Args:
        order, cosines: (stage, rank): which tokens, and how near.
    """
    n_stages, n_ranks = order.shape
    colours = dict(zip(order[-1].tolist(), shades(n_ranks, theme), strict=True))
    drawn, names = [], quoted(tokens)
    for stage, rank in np.ndindex(order.shape):
        token = int(order[stage, rank])
        since = stage
        while since and token in order[since - 1]:
            since -= 1
        said = f"{stages[stage]}, {rank + 1}: {names[token]}, cosine {decimal(float(cosines[stage, rank]))}"
        ends = since == stage or stage == n_stages - 1
        line = f"{token}, {since}"
        colour = colours.get(token, theme.plain)
        drawn.append((line, stage, rank + 1, tokens[token], colour, ends, stage == n_stages - 1, said))
    heads = ("line", "stage", "rank", "word", "colour", "ends", "last", "hover")
    columns = dict(zip(heads, zip(*drawn, strict=True), strict=True))
    return Chart(spec=_bumps(theme, tuple(stages), n_ranks), data={"rows": columns})


@cache
def _bumps(theme: Theme, stages: tuple[str, ...], n_ranks: int) -> Spec:
    written = f"{list(stages)}[datum.value]"
    last = len(stages) - 1
    axis = {"labelExpr": written, "values": list(range(len(stages))), "grid": False, "labelOverlap": "greedy"}
    x = number(alt.X, "stage", axis=axis, domain=[-0.1, last + 0.5])
    ranks = {"values": list(range(1, n_ranks + 1)), "format": "d", "grid": False}
    y = number(alt.Y, "rank", "rank by cosine, the nearest first", axis=ranks, domain=[n_ranks + 0.3, 0.5])
    colour = alt.Color("colour:N", scale=None)
    line = rows().mark_line(aria=False, strokeWidth=3, interpolate="monotone")
    dot = rows().mark_point(filled=True, size=90, opacity=1)
    # Where stages stand close, a word is written where its line begins, and at the end.
    seen = f"datum.ends || width > {70 * len(stages)} ? 1 : 0"
    word: dict[str, Any] = {"aria": False, "dy": -13, "opacity": {"expr": seen}, "baseline": "middle"}
    words = rows().mark_text(**word, fontWeight={"expr": "datum.last ? 'bold' : 'normal'"})
    return specification(
        theme,
        line.encode(x=x, y=y, color=colour, detail="line:N"),
        dot.encode(x=x, y=y, color=colour, **hover()),
        words.encode(x=x, y=y, text=alt.Text("word:N"), color=alt.value(theme.text)),
        height=90 + 60 * n_ranks,
        says="Bump chart: the nearest tokens by cosine, stage by stage.",
    )


def growth(
    values: Array, *, stages: Sequence[str], tokens: Sequence[str], position: int, theme: Theme, top: float = 0.0
) -> Chart:
    """Length of every token's vector by depth, one line each; the chosen token and the mean stand out.

    Args:
        values: (stage, len).
        position: the chosen token.
        top: the scale reaches at least this far, so that two charts can share one.
    """
    names = quoted(tokens)
    kinds = numbered(["all tokens", "mean", names[position]])
    lines = [
        *((kinds[0], name, values[:, n]) for n, name in enumerate(names)),
        (kinds[1], "mean", values.mean(axis=1)),
        (kinds[2], names[position], values[:, position]),
    ]
    n_stages, n_lines = len(stages), len(lines)
    drawn: Columns = {
        "line": [line for line in numbered([name for _, name, _ in lines]) for _ in stages],
        "kind": [kind for kind, _, _ in lines for _ in stages],
        "stage": numbered(stages) * n_lines,
        "width": [1.5 if kind == kinds[0] else 3.0 for kind, _, _ in lines for _ in stages],
        "seen": [0.3 if kind == kinds[0] else 1.0 for kind, _, _ in lines for _ in stages],
        "length": np.concatenate([lengths for _, _, lengths in lines]),
    }
    said = [f"{name}, {s}: norm {v:.2f}" for _, name, along in lines for s, v in zip(stages, along, strict=True)]
    # The two that stand out answer the pointer everywhere; of the others, if there are many, only some points do.
    step = -(-n_stages * len(tokens) // MOST_POINTS)
    pointed = [*range(n_stages * len(tokens), n_stages * n_lines), *range(0, n_stages * len(tokens), step)]
    points: dict[str, Any] = {field: [drawn[field][i] for i in pointed] for field in ("kind", "stage", "length")}
    points["hover"] = [said[i] for i in pointed]
    points["seen"] = [0.0 if kind == kinds[0] else 1.0 for kind in points["kind"]]
    ends = {"y": [0.0, 1.06 * max(top, float(values.max()), 1e-9)]}
    return Chart(spec=_growth(theme), data={"rows": drawn, "points": points, "ends": ends})


@cache
def _growth(theme: Theme) -> Spec:
    x = name(alt.X, "stage", axis=SLANTED, type="point", padding=0.3)
    y = number(alt.Y, "length", "norm of the vector")
    tints, dashes = [theme.text, theme.text, theme.accent], [DASHES[0], DASHES[1], DASHES[0]]
    color, dash = strokes("kind", tints, dashes, longest=LABEL_LENGTH)
    seen = alt.Opacity("seen:Q", scale=None)
    each = {"detail": alt.Detail("line:N"), "strokeWidth": alt.StrokeWidth("width:Q", scale=None), "opacity": seen}
    point = rows("points").mark_point(filled=True, size=50)
    return specification(
        theme,
        reach(number(alt.Y, "y", "norm of the vector")),
        rows().mark_line(aria=False).encode(x=x, y=y, color=color, strokeDash=dash, **each),
        point.encode(x=x, y=y, color=color, opacity=seen, **hover()),
        height=440,
        says="The norm of every token's vector.",
    )


def colours(theme: Theme) -> dict[str, str]:
    """The colour of each kind of part."""
    return {
        "embedding": theme.vector,
        "position": theme.position,
        "head": theme.attention,
        "bias": theme.plain,
        "MLP": theme.mlp,
        "norm": theme.norm,
    }


def waterfall(along: Array, *, kinds: Sequence[str], names: Sequence[str], steps: Sequence[str], theme: Theme) -> Chart:
    """How far every part takes the vector towards its final direction: each row begins where the one above ended.

    Parts that lead there lie to the right of a row's beginning; those that lead away, paler and dashed, lie to its
    left, all end to end.

    Args:
        along: (part,), signed.
        kinds, names, steps: of each part; parts of one step share a row.
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
    parts = {"color": role("kind", colours(theme)), "fillOpacity": alt.FillOpacity("solid:Q", scale=None)}
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
    """Where each bar begins, and its row."""
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


def sizes(size: Array, cosine: Array, *, kinds: Sequence[str], names: Sequence[str], theme: Theme) -> Chart:
    """Every part by its length and by its cosine with the stream it is added to: what points against it is on the left.

    Args:
        size: (part,).
        cosine: (part,), in [-1, 1]; parts without one are left out.
    """
    shown = [n for n in range(len(names)) if np.isfinite(cosine[n])]
    parts: Columns = {
        "cosine": cosine[shown],
        "size": size[shown],
        "kind": [kinds[n] for n in shown],
        "hover": [f"{names[n]}: norm {size[n]:.2f}, cosine {decimal(cosine[n], '.2f')}" for n in shown],
    }
    present = tuple(kind for kind in colours(theme) if kind in parts["kind"])
    return Chart(spec=_sizes(theme, present), data={"rows": parts})


@cache
def _sizes(theme: Theme, kinds: tuple[str, ...]) -> Spec:
    x = number(alt.X, "cosine", "cosine: against the stream | with it", axis=FEW, domain=[-1.04, 1.04])
    y = number(alt.Y, "size", "norm", zero=True, nice=True)
    color = role("kind", {kind: colours(theme)[kind] for kind in kinds})
    color["title"] = None
    color["legend"] = {"symbolType": "circle", "columns": {"expr": "max(1, floor(containerSize()[0] / 110))"}}
    left = rows("summary").mark_rect(color=theme.grid, opacity=0.45, aria=False)
    point = rows().mark_point(filled=True, size=130, opacity=1, stroke=theme.text, strokeWidth=0.6)
    return specification(
        theme,
        left.encode(x=alt.XDatum(-1), x2=alt.X2Datum(0)),
        point.encode(x=x, y=y, color=color, **hover()),
        height=444,
        says="The norm of each part against its cosine with the stream.",
    )
