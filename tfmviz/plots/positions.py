"""Figures of the pages on positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots import lines as curves
from tfmviz.plots.cells import Axis, Cells, Form, Scale, of_tokens, signed, written
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, name, number, numbered, role, rows, specification
from tfmviz.plots.lines import DASHES, Axes, Stroke, line_chart
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Line:
    """One line of `lines`.

    Attributes:
        y: one number per position.
        note: more words for the pointer.
        drawn: "level" is a dashed line for what does not depend on the position, "dots" are marks without a line.
        between: x and y of a curve that the positions lie on; None: straight lines join them.
    """

    name: str
    y: Array
    note: str = ""
    drawn: Literal["solid", "dash", "level", "dots"] = "solid"
    between: tuple[Array, Array] | None = None


def lines(
    drawn: Sequence[Line],
    *,
    title: str,
    theme: Theme,
    x_title: str = "position",
    y_range: tuple[float, float] | None = None,
    marked: Sequence[tuple[float, str]] = (),
    log: bool = False,
) -> Chart:
    """Lines over the positions 0, 1, 2 …

    Args:
        title: what is measured.
        y_range: ends of the scale; None: what the numbers need.
        marked: places on the x axis that get a dashed upright line with a word.
        log: the y axis counts in powers of ten.
    """
    colours = [theme.text, theme.plain][: len(drawn)] if len(drawn) <= 2 else shades(len(drawn), theme)
    return line_chart(
        [_line(line, colour) for line, colour in zip(drawn, colours, strict=True)],
        Axes(x=x_title, y=title, log=log, legend=len(drawn) > 1),
        theme=theme,
        y_range=y_range,
        marked=marked,
    )


def _line(line: Line, colour: str) -> curves.Line:
    dots = line.drawn == "dots" or line.between is not None
    few = len(line.y) <= 64 and line.drawn != "level"
    return curves.Line(
        name=line.name,
        x=np.arange(len(line.y)),
        y=line.y,
        stroke=Stroke(
            colour=colour,
            dash=DASHES[1 if line.drawn in ("dash", "level") else 0],
            width=0 if line.drawn == "dots" else 2.5,
            dot=40 if dots else 20 if few else 0,
        ),
        said=lambda x, y: f"{line.name} at {x:g}: {y:.4g}" + (f", {line.note}" if line.note else ""),
        smooth=line.between,
    )


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
        (line, row, x, value, row + WAVE * value, f"dim {j} at {x}: {value:.4g}, {_frequency(wavelengths[pair])}")
        for line, (row, pair, part) in zip(lines, of_line, strict=True)
        for j in (2 * pair + part,)
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
        "rows": dict(zip(("line", "row", "x", "y", "up", "hover"), zip(*points, strict=True), strict=True)),
        "curves": dict(zip(("line", "part", "row", "x", "up"), zip(*drawn, strict=True), strict=True)),
        "read": dict(zip(("cursor", "row", "x", "up", "word", "part"), zip(*read, strict=True), strict=True)),
        "cursors": {"cursor": [0, 1], "x": list(at), "word": [f"{n} = {x}" for n, x in zip("ab", at, strict=True)]},
        "hands": dict(zip(("cursor", "row", "turn"), zip(*hands, strict=True), strict=True))
        | {"x": [edge] * len(hands)},
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
    y = number(
        alt.Y,
        "up",
        None,
        axis={"labels": False, "ticks": False, "domain": False, "grid": False},
        domain=[-0.6, n_pairs],
    )
    middle = number(alt.Y, "row")
    shade = alt.Color("row:Q", scale={"range": shades(9, theme)[::-1], "domain": [0, max(1, n_pairs - 1)]}, legend=None)
    dash = alt.StrokeDash("part:N", scale={"domain": [0, 1], "range": [list(DASHES[0]), list(DASHES[1])]}, legend=None)
    inks = alt.Color("cursor:N", scale={"domain": [0, 1], "range": [theme.text, theme.accent]}, legend=None)
    turn = alt.Angle("turn:Q", scale=None)
    hand = rows("hands").mark_point(shape="M0,0L0,-1", size=900, strokeWidth=3, opacity=1, aria=False)
    side = {"expr": "datum.part ? 'top' : 'bottom'"}
    values, where = rows("read"), {"x": x, "y": middle, "text": alt.Text("word:N")}
    beside: dict[str, Any] = {"align": "left", "dx": 7, "baseline": side, "aria": False}
    return specification(
        theme,
        rows("curves")
        .mark_line(strokeWidth=2.5, aria=False)
        .encode(x=x, y=y, color=shade, strokeDash=dash, detail=alt.Detail("line:N")),
        rows().mark_point(opacity=0, size=60).encode(x=x, y=y, **hover()),
        rows("pairs")
        .mark_text(align="right", dx=-6, aria=False)
        .encode(x=alt.XValue(26), y=middle, text=alt.Text("word:N")),
        rows("cursors").mark_rule(strokeWidth=1.5, aria=False).encode(x=x, color=inks),
        rows("cursors")
        .mark_text(baseline="top", align="left", dx=5)
        .encode(x=x, y=alt.YValue(0), text=alt.Text("word:N"), color=inks),
        rows("read").mark_point(filled=True, size=60, opacity=1, aria=False).encode(x=x, y=y, color=inks),
        values.mark_text(**beside, stroke=theme.ground, strokeWidth=5).encode(**where),  # or waves would cross them
        values.mark_text(**beside).encode(**where, color=inks),
        rows("hands").mark_point(shape="circle", size=900, stroke=theme.grid, aria=False).encode(x=x, y=middle),
        hand.encode(x=x, y=middle, angle=turn, color=inks),
        height=height,
        says="Sine and cosine of each pair over the positions.",
    )


def table(
    values: Array,
    *,
    title: str,
    limit: float | None = None,
    text: Literal["none", "numbers"] = "none",
) -> Cells:
    """A table of signed numbers, rows from the top.

    Args:
        values: (rows, columns).
        title: of the colour bar.
        limit: where the colours end; None: at the largest number in size.
        text: whether the numbers stand in the cells.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title="position"),
        columns=Axis(title="dimension"),
        scale=signed(values, title, limit=limit),
        form=Form(digits=4),
        texts=written(values, ".3f") if text == "numbers" else None,
        row_height=max(26, round(180 / len(values))),
    )


def between(values: Array, *, title: str, tokens: Sequence[str] | None = None, limit: float = 1.0) -> Cells:
    """A number for any two positions, or any two tokens of a text.

    Args:
        values: (n, n), signed.
        title: of the colour bar.
        tokens: names of rows and columns; None: positions, by their numbers.
        limit: where the colours end.
    """
    both = Axis(title="position") if tokens is None else of_tokens("token", tokens)
    return Cells(
        matrices=values[None],
        rows=both,
        columns=both,
        scale=signed(values, title, limit=limit),
        form=Form(digits=4),
        square=True,
    )


def circle(pairs: Array, *, start: int, shift: int, theme: Theme) -> Chart:
    """One pair of dimensions as points on the unit circle; position `start` and the one `shift` further stand out.

    Args:
        pairs: (len, 2): the sine, drawn upwards, and the cosine, drawn to the right.
    """
    chosen = [start, start + shift]
    data: dict[str, Columns] = {
        "rows": {
            "x": pairs[:, 1],
            "y": pairs[:, 0],
            "hover": [f"position {n}: sine {sine:.4f}, cosine {cosine:.4f}" for n, (sine, cosine) in enumerate(pairs)],
        },
        "hands": {
            "x": pairs[chosen, 1],
            "y": pairs[chosen, 0],
            "role": ["start", "shifted"],
            "word": [str(position) for position in chosen],
        },
    }
    return Chart(spec=_circle(theme), data=data)


@cache
def _circle(theme: Theme) -> Spec:
    """One unit is as long upwards as to the right, whatever the width of the page."""
    x = number(alt.X, "x", "cosine", axis=FEW, domain=_square("width", "height"))
    y = number(alt.Y, "y", "sine", domain=_square("height", "width"))
    radius = {"expr": f"min(width, height) / {2 * EDGE}"}
    ring: dict[str, Any] = {"filled": False, "stroke": theme.grid, "aria": False, "theta": 0, "theta2": 2 * np.pi}
    colour = role("role", {"start": theme.text, "shifted": theme.accent})
    hands = rows("hands")
    side = {"expr": "datum.x < 0 ? 'right' : 'left'"}
    word = hands.mark_text(fontSize=18, baseline="bottom", dy=-6, align=side)
    return specification(
        theme,
        rows("summary").mark_arc(**ring, innerRadius=radius, outerRadius=radius).encode(),
        rows().mark_point(filled=True, size=50, opacity=0.6, color=theme.position).encode(x=x, y=y, **hover()),
        hands.mark_rule(strokeWidth=4).encode(x=x, y=y, x2=alt.X2Datum(0), y2=alt.Y2Datum(0), color=colour),
        hands.mark_point(filled=True, size=120, opacity=1).encode(x=x, y=y, color=colour),
        word.encode(x=x, y=y, color=colour, text=alt.Text("word:N")),
        height=430,
        says="Sine against cosine of every position.",
    )


EDGE = 1.3
"""Where the axes of a circle of radius 1 end."""


def _square(this: str, other: str) -> list[Spec]:
    return [{"expr": f"{sign * EDGE} * max(1, {this} / {other})"} for sign in (-1, 1)]


def path(scores: Array, *, shares: Array, theme: Theme) -> Chart:
    """The path from the first position to the last, in the two directions in which the vectors differ most.

    Args:
        scores: (len, 2 or more).
        shares: of the variance, per direction.
    """
    named = set(range(0, len(scores), max(1, len(scores) // 8))) | {len(scores) - 1}
    points: Columns = {
        "position": np.arange(len(scores)),
        "x": scores[:, 0],
        "y": scores[:, 1],
        "word": [str(position) if position in named else "" for position in range(len(scores))],
        "hover": [f"position {n}: {x:.3f}, {y:.3f}" for n, (x, y) in enumerate(scores[:, :2])],
    }
    titles = f"first direction ({shares[0]:.0%} of the variance)", f"second ({shares[1]:.0%})"
    return Chart(spec=_path(theme, *titles), data={"rows": points})


@cache
def _path(theme: Theme, first: str, second: str) -> Spec:
    x = number(alt.X, "x", first, padding=16, axis=FEW)
    y = number(alt.Y, "y", second, padding=16)
    colour = alt.Color("position:Q", scale={"range": shades(9, theme)}, legend=None)
    return specification(
        theme,
        rows().mark_line(color=theme.grid, aria=False).encode(x=x, y=y, order=alt.Order("position:Q")),
        rows().mark_point(filled=True, size=80, opacity=1).encode(x=x, y=y, color=colour, **hover()),
        rows().mark_text(dy=-13).encode(x=x, y=y, text=alt.Text("word:N")),
        height=380,
        says="The positions in the two directions in which they differ most.",
    )


def rulers(texts: Sequence[Sequence[str]], places: Sequence[Array], *, theme: Theme) -> Chart:
    """Texts laid along one ruler from 0 to 1, the first on top.

    Args:
        texts: tokens of each text.
        places: per text, one number in [0, 1] for each token.
    """
    laid = [
        (text, place, str(n) if len(tokens) <= 24 or n % 4 == 0 else "", f"{n} “{visible(token)}” at {place:.3f}")
        for text, tokens, along in zip(numbered([f"N = {len(tokens)}" for tokens in texts]), texts, places, strict=True)
        for n, (token, place) in enumerate(zip(tokens, along.tolist(), strict=True))
    ]
    text, x, word, said = zip(*laid, strict=True)
    return Chart(spec=_rulers(theme), data={"rows": {"text": text, "x": x, "word": word, "hover": said}})


@cache
def _rulers(theme: Theme) -> Spec:
    quarters = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f", "grid": True}
    x = number(alt.X, "x", "index / (N − 1)", domain=[-0.03, 1.03], axis=quarters)
    y = name(alt.Y, "text", type="point", padding=0.7)
    colour = alt.Color("text:N", legend=None, scale={"range": [theme.text, theme.plain]})
    return specification(
        theme,
        rows().mark_line(color=theme.grid, aria=False).encode(x=x, y=y, detail=alt.Detail("text:N")),
        rows().mark_point(filled=True, size=170, opacity=1).encode(x=x, y=y, color=colour, **hover()),
        rows().mark_text(dy=-16).encode(x=x, y=y, text=alt.Text("word:N")),
        height=230,
        says="Two texts laid along one ruler from 0 to 1.",
    )


def bits(values: Array) -> Cells:
    """Positions counted in bits: filled is 1. Rows are bits, the one that changes most often on top.

    Args:
        values: (len, n_bits), 0 or 1, the last bit of the number first.
    """
    n_bits = values.shape[1]
    return Cells(
        matrices=values.T[None],
        rows=Axis(
            title="", names=[f"every {2**bit}" for bit in range(n_bits)], spoken=[f"bit {bit}" for bit in range(n_bits)]
        ),
        columns=Axis(title="position"),
        scale=Scale(colours="norms", low=0, high=1),
        form=Form(digits=0),
    )
