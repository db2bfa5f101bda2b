from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Literal

from tfmviz.plots.cells import Axis, Cells, Scale, masked, of_tokens, share, signed
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal

Role = Literal["left", "right", "other"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Curve:
    """The left scheme is ink, the right one grey, the others thin and dashed."""

    name: str
    x: Array
    y: Array
    role: Role


def scheme_map(values: Array, *, title: str, axes: tuple[str, str]) -> Cells:
    """The numbers that a scheme adds or turns with, (rows, columns), the first position on top; NaN where masked.

    Args:
        axes: names of columns and rows.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title=axes[1]),
        columns=Axis(title=axes[0]),
        scale=signed(values, title),
        row_height=round(320 / len(values)),
        square=axes == ("key", "query"),
    )


def moving(curves: Sequence[Curve], *, theme: Theme) -> Chart:
    """The score of a pair of words against the query's position, at a constant distance between the two."""
    ends = [float(end) for curve in curves for end in (curve.y.min() - 0.5, curve.y.max() + 0.5)]

    def tooltips(name: str, at: float, score: float) -> str:
        return f"{name}, query at {at:g}: {decimal(score, '.3f')}"

    strokes = [Stroke(_colour(curve.role, theme), width=4, dot=60) for curve in curves]
    lines = [
        Line(c.name, c.x, c.y, stroke, partial(tooltips, c.name)) for c, stroke in zip(curves, strokes, strict=True)
    ]
    axes = Axes(x="position of the query", y="score", legend=True)
    return line_chart(lines, axes, theme=theme, y_range=(min(ends), max(ends)))  # rounding alone draws no wave


def losses(curves: Sequence[Curve], *, trained: int, theme: Theme) -> Chart:
    """Loss by position; names stand where lines end.

    Of the schemes that are not chosen, the one with the lowest loss at the end has a colour.

    Args:
        trained: number of positions in training.
    """
    end = max(float(curve.x.max()) for curve in curves)
    short = [curve for curve in curves if float(curve.x.max()) < end - trained / 2]
    best = min((curve for curve in curves if curve not in short), key=lambda curve: float(curve.y[-1]))
    dashes, lines = cycle(DASHES[1:]), []
    for curve in curves:
        dash = next(dashes) if curve.role == "other" else DASHES[0]
        stroke = Stroke(_colour(curve.role, theme), dash, 1.5 if curve.role == "other" else 4)
        if curve is best and curve.role == "other":
            stroke = Stroke(theme.position, width=3)
        tooltips = partial("{0}, position {1:.0f}: {2:.2f} nats".format, curve.name)
        lines.append(Line(curve.name, curve.x, curve.y, stroke, tooltips))
    low, high = (end_of([float(end_of(curve.y)) for curve in curves]) for end_of in (min, max))
    below = low - (high - low) / 8
    return line_chart(
        lines,
        Axes(x="position in the text", y="−log p, nats per token", height=440),
        theme=theme,
        y_range=(below, high),
        marked=[(trained - 0.5, f"trained on {trained} positions")],
        ends=[(float(trained), (low + below) / 2, f"{curve.name} ends") for curve in short],
        words=["" if curve in short else curve.name for curve in curves],
    )


def shares(patterns: Sequence[Array], mask: Array, *, titles: Sequence[str], tokens: Sequence[str]) -> Cells:
    """Attention patterns, each (len, len), in rows of two; grey is masked."""
    return panels(masked(patterns, mask), share(), titles, tokens)


def panels(values: Array, scale: Scale, titles: Sequence[str], tokens: Sequence[str], *, across: int = 2) -> Cells:
    """Matrices on one scale, (matrix, query, key), NaN where masked."""
    return Cells(
        matrices=values,
        rows=of_tokens("query", tokens),
        columns=Axis(title="key, in the same order", names=(), spoken=of_tokens("key", tokens).spoken),
        scale=scale,
        titles=tuple(titles),
        square=True,
        across=across,
    )


def _colour(role: Role, theme: Theme) -> str:
    return theme.text if role == "left" else theme.plain
