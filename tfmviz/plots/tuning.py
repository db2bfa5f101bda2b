"""Figures of fine-tuning: right answers against examples, how far heads moved, and the directions of a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tfmviz.plots.charts import Chart
from tfmviz.plots.learning import strokes
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import per_cent, rounded


def learning_curves(
    means: Mapping[str, tuple[Array, Array]], *, own: tuple[str, int, float] | None, chance: float, theme: Theme
) -> Chart:
    """The share of right answers against the number of examples.

    Args:
        means: numbers of examples and shares, by the way of training.
        own: of the reader's own run, the way of training, number of examples and share.
        chance: what guessing reaches.
    """

    def said(name: str, x: float, y: float) -> str:
        return f"{name}, {x:,.0f} examples: {per_cent(y)}"

    looks = {name: replace(stroke, dot=60) for name, stroke in zip(means, strokes(len(means), theme), strict=True)}
    lines = [Line(name=name, x=x, y=y, stroke=looks[name], said=partial(said, name)) for name, (x, y) in means.items()]
    if own:
        way, *place = own
        x, y = (np.array([value], dtype=float) for value in place)
        stroke = replace(looks[way], width=0, dot=260)
        lines.append(Line(name="this run", x=x, y=y, stroke=stroke, said=partial(said, f"this run, {way}")))
    axes = Axes(x="examples", y="right answers", height=260, doubling=True)
    return line_chart(lines, axes, theme=theme, y_range=(chance, 1.0))


def spectrum(values: Array, *, theme: Theme) -> Chart:
    """The singular values of a change of weights, largest first: in how many directions it acts."""
    shown = values[:24]
    line = Line(
        name="ΔW",
        x=np.arange(1.0, len(shown) + 1),
        y=np.asarray(shown, dtype=float),
        stroke=Stroke(colour=theme.plain, dot=60),
        said=lambda x, y: f"direction {x:.0f}: {rounded(y)}",
    )
    axes = Axes(x="direction", y="singular value of ΔW", height=230, legend=False)
    return line_chart([line], axes, theme=theme, y_range=(0.0, 0.0))
