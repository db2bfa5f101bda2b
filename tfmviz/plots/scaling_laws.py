"""Losses against parameters, tokens or operations: laws as lines, runs as points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal, in_words

LOSS = "loss, nats per token"

FRONTIER = "best N for each C"

DOT = 70
"""Area of a run's point, in square pixels."""

FEW_TENS = 200
"""An axis shorter than so many times its beginning is labelled between powers of ten too."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Series:
    """Runs that share a size or an amount of text.

    Attributes:
        x, loss: of each run.
        law: x and loss of the fitted curve.
    """

    x: Array
    loss: Array
    law: tuple[Array, Array]


def laws(
    curves: Mapping[str, tuple[Array, Array]], *, title: str, marked: Sequence[tuple[float, str]], theme: Theme
) -> Chart:
    """Laws as lines, on two logarithmic axes.

    Args:
        curves: x and loss of each law.
        title: of the x axis.
        marked: places on it with a word.
    """
    lines = named_lines(curves, _said, theme=theme)
    if len(lines) > 1:  # the last two nearly agree: a thin line lies on a wide one
        lines[-2] = replace(lines[-2], stroke=Stroke(colour=theme.plain, width=9))
        lines[-1] = replace(lines[-1], stroke=Stroke(colour=theme.text, width=2))
    axes = Axes(x=title, y=LOSS, height=340, power_law=True)
    return line_chart(lines, axes, theme=theme, marked=marked, words=list(curves))


def runs(
    fitted: Mapping[str, Series],
    others: Mapping[str, tuple[Array, Array]],
    *,
    title: str,
    theme: Theme,
    frontier: tuple[Array, Array] | None = None,
) -> Chart:
    """Runs as points, with the fitted law through each series.

    Args:
        others: x and loss of runs that were not fitted, which have no line.
        title: of the x axis.
        frontier: x and loss of the best that the law promises at any x.
    """
    points = {name: (series.x, series.loss) for name, series in fitted.items()} | dict(others)
    lines = named_lines(points, _said, theme=theme, dot=DOT)
    drawn = [
        replace(line, smooth=fitted[line.name].law)
        if line.name in fitted
        else replace(line, stroke=replace(line.stroke, width=0, dot=3 * DOT))
        for line in lines
    ]
    if frontier:
        stroke = Stroke(colour=theme.text, width=4)
        drawn.append(Line(name=FRONTIER, x=frontier[0], y=frontier[1], stroke=stroke, said=partial(_said, FRONTIER)))
    ends = np.concatenate([x for x, _ in points.values()])
    fives = float(ends.max() / ends.min()) < FEW_TENS
    axes = Axes(x=title, y=LOSS, height=380, power_law=True, fives=fives)
    # Against C the lines end one after the other, and words at their ends would lie on other lines.
    return line_chart(drawn, axes, theme=theme, words=() if frontier else [line.name for line in drawn])


def _said(name: str, x: float, loss: float) -> str:
    return f"{name}, {in_words(x)}: {decimal(loss, '.3f')} nats"
