"""Lines with more than points on one axis: cursors, ranks, whole crowds, contours, intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

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
    of_rows,
    reach,
    rows,
    specification,
    spots,
    strokes,
    words,
)
from tfmviz.plots.lines import DASHES, MOST_POINTS, spread
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal


def waves(table: Array, pairs: Sequence[int], wavelengths: Array, *, at: Sequence[int], theme: Theme) -> Chart:
    """A row for each pair of dimensions: sine and cosine over the positions, two cursors that read them, and clocks.

    Args:
        table: (len, d), sines in even dimensions and cosines in odd ones.
        pairs: those that are drawn, from the top.
        wavelengths: (d / 2,), of all pairs.
        at: positions of the two cursors.
    """
    length, last = len(table), len(pairs) - 1
    fine = np.linspace(0, length - 1, min(4000, 12 * length))
    lines = numbered([f"dim {2 * pair + part}" for pair in pairs for part in (0, 1)])
    of_line = [(last - row, pair, part) for row, pair in enumerate(pairs) for part in (0, 1)]
    drawn = [
        (line, part, row, x, row + WAVE * value)
        for line, (row, pair, part) in zip(lines, of_line, strict=True)
        for x, value in zip(fine.tolist(), _wave(fine, wavelengths[pair], part).tolist(), strict=True)
    ]
    points = [
        (line, row, x, value, row + WAVE * value, f"dim {j} at {x}: {decimal(value, '.4g')}, {frequency}")
        for line, (row, pair, part) in zip(lines, of_line, strict=True)
        for j in (2 * pair + part,)
        for frequency in (_frequency(wavelengths[pair]),)
        for x, value in enumerate(table[:, j].tolist())
    ]
    read = [
        (n, row, x, row + WAVE * table[x, 2 * pair + part], f"{table[x, 2 * pair + part]:+.2f}".replace("-", "−"), part)
        for n, x in enumerate(at)
        for row, pair, part in of_line
    ]
    hands = [
        (n, last - row, 90 - np.degrees(x * 2 * np.pi / wavelengths[pair]) % 360)
        for row, pair in enumerate(pairs)
        for n, x in enumerate(at)
    ]
    edge = 1.06 * (length - 1)
    data: dict[str, Columns] = {
        "rows": of_rows(points, "line", "row", "x", "y", "up", "hover"),
        "curves": of_rows(drawn, "line", "part", "row", "x", "up"),
        "read": of_rows(read, "cursor", "row", "x", "up", "word", "part"),
        "cursors": {"cursor": [0, 1], "x": list(at), "word": [f"{n} = {x}" for n, x in zip("ab", at, strict=True)]},
        "hands": {**of_rows(hands, "cursor", "row", "turn"), "x": [edge] * len(hands)},
        "pairs": {"row": [last - n for n in range(last + 1)], "word": [f"i = {pair}" for pair in pairs]},
    }
    return Chart(spec=_waves(theme, len(pairs)), data=data)


WAVE = 0.4
"""Half the height of a wave, in rows."""


def _wave(x: Array, wavelength: float, part: int) -> Array:
    return (np.sin, np.cos)[part](2 * np.pi * x / wavelength)


def _frequency(wavelength: float) -> str:
    return f"frequency {2 * np.pi / wavelength:.4g}, wavelength {wavelength:,.4g}"


@cache
def _waves(theme: Theme, n_pairs: int) -> Spec:
    height = round(max(44, 3 * theme.letters) * (n_pairs + 1)) + 40
    x = number(alt.X, "x", "position", axis=FEW | {"tickMinStep": 1, "grid": False}, padding=26)
    bare = {"labels": False, "ticks": False, "domain": False, "grid": False}
    y = number(alt.Y, "up", None, axis=bare, domain=[-0.6, n_pairs])
    middle = number(alt.Y, "row")
    shade = alt.Color("row:Q", scale={"range": shades(9, theme)[::-1], "domain": [0, max(1, n_pairs - 1)]}, legend=None)
    dash = alt.StrokeDash("part:N", scale={"domain": [0, 1], "range": [list(DASHES[0]), list(DASHES[1])]}, legend=None)
    inks = alt.Color("cursor:N", scale={"domain": [0, 1], "range": [theme.text, theme.accent]}, legend=None)
    turn = alt.Angle("turn:Q", scale=None)
    wave = rows("curves").mark_line(strokeWidth=2.5, aria=False)
    hand = rows("hands").mark_point(shape="M0,0L0,-1", size=900, strokeWidth=3, opacity=1, aria=False)
    side = {"expr": "datum.part ? 'top' : 'bottom'"}
    beside: Spec = {"align": "left", "dx": 7, "baseline": side, "aria": False}
    return specification(
        theme,
        wave.encode(x=x, y=y, color=shade, strokeDash=dash, detail=alt.Detail("line:N")),
        rows().mark_point(opacity=0, size=60).encode(x=x, y=y, **hover()),
        words({"align": "right", "dx": -6, "aria": False}, "pairs", x=alt.XValue(26), y=middle),
        rows("cursors").mark_rule(strokeWidth=1.5, aria=False).encode(x=x, color=inks),
        words({"baseline": "top", "align": "left", "dx": 5}, "cursors", x=x, y=alt.YValue(0), color=inks),
        rows("read").mark_point(filled=True, size=60, opacity=1, aria=False).encode(x=x, y=y, color=inks),
        # A line around them, or waves would cross them.
        words(beside | {"stroke": theme.ground, "strokeWidth": 5}, "read", x=x, y=middle),
        words(beside, "read", x=x, y=middle, color=inks),
        rows("hands").mark_point(shape="circle", size=900, stroke=theme.grid, aria=False).encode(x=x, y=middle),
        hand.encode(x=x, y=middle, angle=turn, color=inks),
        height=height,
        says="Sine and cosine of each pair over the positions.",
    )


def bumps(order: Array, cosines: Array, *, stages: Sequence[str], tokens: Sequence[str], theme: Theme) -> Chart:
    """The nearest tokens, stage by stage: a line follows a token while it is among them.

    Those that are nearest at the end are coloured, the nearest the strongest; the others are grey.

    Args:
        order, cosines: (stage, rank): the tokens, and their cosines.
    """
    n_stages, n_ranks = order.shape
    colours = dict(zip(order[-1].tolist(), shades(n_ranks, theme), strict=True))
    drawn, names = [], quoted(tokens)
    for stage, rank in np.ndindex(order.shape):
        token = int(order[stage, rank])
        since = stage
        while since and token in order[since - 1]:
            since -= 1
        tooltip = f"{stages[stage]}, {rank + 1}: {names[token]}, cosine {decimal(float(cosines[stage, rank]))}"
        ends = since == stage or stage == n_stages - 1
        line = f"{token}, {since}"
        colour = colours.get(token, theme.plain)
        drawn.append((line, stage, rank + 1, tokens[token], colour, ends, stage == n_stages - 1, tooltip))
    data = {"rows": of_rows(drawn, "line", "stage", "rank", "word", "colour", "ends", "last", "hover")}
    return Chart(spec=_bumps(theme, tuple(stages), n_ranks), data=data)


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
    # Where stages stand close, a word is written where its line begins, and at the end.
    seen = f"datum.ends || width > {70 * len(stages)} ? 1 : 0"
    word: Spec = {"aria": False, "dy": -13, "opacity": {"expr": seen}, "baseline": "middle"}
    word["fontWeight"] = {"expr": "datum.last ? 'bold' : 'normal'"}
    return specification(
        theme,
        line.encode(x=x, y=y, color=colour, detail="line:N"),
        spots({"size": 90, "opacity": 1}, x=x, y=y, color=colour),
        words(word, x=x, y=y, color=alt.value(theme.text)),
        height=90 + 60 * n_ranks,
        says="Bump chart: the nearest tokens by cosine, stage by stage.",
    )


def by_stage(
    values: Array, *, stages: Sequence[str], tokens: Sequence[str], position: int, theme: Theme, top: float = 0.0
) -> Chart:
    """Norm of every token's vector by depth, (stage, len), one line each; the chosen token and the mean stand out.

    Args:
        top: the scale reaches at least this far, so that two charts can share one.
    """
    names, shown = quoted(tokens), numbered(stages)
    kinds = numbered(["all tokens", "mean", names[position]])
    lines = [
        *((kinds[0], name, values[:, n]) for n, name in enumerate(names)),
        (kinds[1], "mean", values.mean(axis=1)),
        (kinds[2], names[position], values[:, position]),
    ]
    drawn = [
        (line, kind, stage, 1.5 if kind == kinds[0] else 3.0, 0.3 if kind == kinds[0] else 1.0, norm)
        for line, (kind, _, along) in zip(numbered([name for _, name, _ in lines]), lines, strict=True)
        for stage, norm in zip(shown, along.tolist(), strict=True)
    ]
    points = [
        (kind, stage, norm, f"{name}, {stage[5:]}: norm {norm:.2f}", float(kind != kinds[0]))
        for kind, name, along in lines
        for stage, norm in zip(shown, along.tolist(), strict=True)
    ]
    # The two that stand out answer the pointer everywhere; of the others, if there are many, only some points do.
    n_grey = len(stages) * len(tokens)
    pointed = [*points[n_grey:], *points[: n_grey : -(-n_grey // MOST_POINTS)]]
    data: dict[str, Columns] = {
        "rows": of_rows(drawn, "line", "kind", "stage", "width", "seen", "length"),
        "points": of_rows(pointed, "kind", "stage", "length", "hover", "seen"),
        "ends": {"y": [0.0, 1.06 * max(top, float(values.max()), 1e-9)]},
    }
    return Chart(spec=_by_stage(theme), data=data)


@cache
def _by_stage(theme: Theme) -> Spec:
    x = name(alt.X, "stage", axis=SLANTED, type="point", padding=0.3)
    y = number(alt.Y, "length", "norm of the vector")
    tints, dashes = [theme.text, theme.text, theme.accent], [DASHES[0], DASHES[1], DASHES[0]]
    color, dash = strokes("kind", tints, dashes, longest=LABEL_LENGTH)
    seen = alt.Opacity("seen:Q", scale=None)
    each = {"detail": alt.Detail("line:N"), "strokeWidth": alt.StrokeWidth("width:Q", scale=None), "opacity": seen}
    return specification(
        theme,
        reach(number(alt.Y, "y", "norm of the vector")),
        rows().mark_line(aria=False).encode(x=x, y=y, color=color, strokeDash=dash, **each),
        spots({"size": 50}, "points", x=x, y=y, color=color, opacity=seen),
        height=440,
        says="The norm of every token's vector.",
    )


def descents(
    paths: Mapping[str, Array], rings: Sequence[Array], *, bright: int, reach: tuple[float, float], theme: Theme
) -> Chart:
    """Paths downhill on a plane, (step, 2), over rings of equal height, (point, 2).

    Args:
        bright: index of the path that stands out.
        reach: the plane is shown so far along x and y, on both sides of 0.
    """
    names = numbered(list(paths))
    points = [
        (name, n, x, y, 1.0 if way == bright else 0.5, f"{name[5:]}, after {n} steps: ({decimal(x)}, {decimal(y)})")
        for way, (name, path) in enumerate(zip(names, paths.values(), strict=True))
        for n, (x, y) in enumerate(path.tolist())
        if abs(x) <= reach[0] and abs(y) <= reach[1]
    ]
    heights = [(f"{r}", n, *place) for r, ring in enumerate(rings) for n, place in enumerate(ring.tolist())]
    data: dict[str, Columns] = {
        "rows": of_rows(points, "line", "step", "x", "y", "strength", "hover"),
        "rings": of_rows(heights, "ring", "step", "x", "y"),
    }
    return Chart(spec=_descents(theme, len(paths), max(map(len, paths)), reach), data=data)


@cache
def _descents(theme: Theme, n: int, longest: int, reach: tuple[float, float]) -> Spec:
    x = number(alt.X, "x", "x", axis=FEW, domain=[-reach[0], reach[0]])
    y = number(alt.Y, "y", "y", domain=[-reach[1], reach[1]])
    order = alt.Order("step:Q")
    shade, dash = strokes("line", shades(n, theme), DASHES[:n], longest=longest)
    dash["legend"] = None
    strength = alt.Opacity("strength:Q", scale=None)
    around = rows("rings").mark_line(color=theme.text, opacity=0.25, strokeWidth=1, clip=True, aria=False)
    return specification(
        theme,
        around.encode(x=x, y=y, order=order, detail=alt.Detail("ring:N")),
        rows().mark_line(aria=False).encode(x=x, y=y, order=order, color=shade, strokeDash=dash, opacity=strength),
        spots({"size": 30}, x=x, y=y, color=shade, opacity=strength),
        height=420,
        says="Paths downhill over contour lines.",
    )


HEIGHT = 360


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Series:
    """A number with its interval, against length.

    Attributes:
        x: (point,), the mean length.
        values: (point, 3), the number and the ends of its interval.
        tooltips: text of each point under the pointer.
    """

    x: Array
    values: Array
    tooltips: Sequence[str]


def against_length(
    series: Mapping[str, Series], *, title: str, x: str = "words of the source", percent: bool = False, theme: Theme
) -> Chart:
    """A line with upright intervals for each model, a little apart, so that no interval hides another."""
    names = numbered(list(series))
    apart = 0.35 * (np.arange(len(series)) - (len(series) - 1) / 2)
    points = [
        (name, float(x) + shift, *map(float, values), tooltip, 90.0)
        for name, one, shift in zip(names, series.values(), apart, strict=True)
        for x, values, tooltip in zip(one.x, one.values, one.tooltips, strict=True)
    ]
    last = np.array([one.values[-1, 0] for one in series.values()])
    top = max(float(one.values[:, 2].max()) for one in series.values())
    at_ends: Columns = {
        "line": names,
        "x": [float(one.x[-1]) + apart[-1] for one in series.values()],
        "y": spread(last, heights=np.full(len(last), (theme.letters + 5) / (HEIGHT - 70) * top), low=0.0, high=top),
        "word": list(series),
    }
    data = {"rows": of_rows(points, "line", "x", "y", "low", "high", "hover", "dot"), "words": at_ends}
    return Chart(spec=_against_length(theme, title, x, percent, tuple(series)), data=data)


@cache
def _against_length(theme: Theme, title: str, across: str, percent: bool, names: tuple[str, ...]) -> Spec:
    longest = max(map(len, names))
    room = (longest + 1) * theme.letters // 2
    x = number(alt.X, "x", across, axis=FEW, rangeMax={"expr": f"width - {room}"})
    percents = {"format": "~%"} if percent else {}
    y, low = (number(alt.Y, field, title, axis=percents, zero=True, nice=True) for field in ("y", "low"))
    looks = [DASHES[i % len(DASHES)] for i in range(len(names))]
    shade, dash = strokes("line", shades(len(names), theme), looks, longest=longest, legend=False)
    return specification(
        theme,
        rows().mark_rule(aria=False, opacity=0.6).encode(x=x, y=low, y2=alt.Y2("high"), color=shade),
        rows().mark_line(aria=False).encode(x=x, y=y, color=shade, strokeDash=dash),
        spots({}, x=x, y=y, color=shade, size=alt.Size("dot:Q", scale=None)),
        words({"align": "left", "baseline": "middle", "dx": 8}, "words", x=x, y=y, color=shade),
        height=HEIGHT,
        says=f"Lines with intervals: {title}, against {across}.",
    )
