"""Lines of two models that differ in one thing: a colour for each model, a dash for each time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal, rounded

HEIGHT = 270


def losses(runs: Mapping[str, tuple[Array, Array]], *, level: tuple[float, str], theme: Theme) -> Chart:
    """Loss against the step for each model, with one dotted line across.

    Args:
        runs: steps and losses.
        level: its height in nats, and its name.
    """
    end = max(float(steps[-1]) for steps, _ in runs.values())
    lines = [
        Line(name=name, x=steps, y=values, stroke=stroke, said=partial(_at_step, name))
        for (name, (steps, values)), stroke in zip(runs.items(), _strokes(theme), strict=False)
    ]
    across = np.array([0.0, end]), np.full(2, level[0])
    dotted = Stroke(colour=theme.text, dash=DASHES[2], width=1.5)
    lines.append(Line(name=level[1], x=across[0], y=across[1], stroke=dotted, said=partial(_at_step, level[1])))
    return line_chart(lines, Axes(x="step", y="loss of the batch, nats", height=HEIGHT), theme=theme)


def by_layer(lines: Mapping[str, Array], *, x: str, title: str, theme: Theme, log: bool = False) -> Chart:
    """A number for each layer: a line for each model, or, with four, for each model at two times.

    Args:
        lines: (layer,) by name; of four, the two of one model follow one another.
        x: what the layers are numbered by, from 0.
        title: what is counted.
    """
    looks = _strokes(theme)
    if len(lines) == 4:
        looks = [Stroke(colour=look.colour, dash=dash) for look in looks for dash in (DASHES[1], DASHES[0])]
    drawn = [
        Line(name=name, x=np.arange(len(y), dtype=float), y=y, stroke=stroke, said=partial(_at_layer, name, x))
        for (name, y), stroke in zip(lines.items(), looks, strict=True)
    ]
    return line_chart(drawn, Axes(x=x, y=title, height=HEIGHT, log=log), theme=theme)


def _strokes(theme: Theme) -> list[Stroke]:
    return [Stroke(colour=theme.text), Stroke(colour=theme.plain)]


def _at_step(name: str, step: float, loss: float) -> str:
    return f"{name}, step {step:,.0f}: {loss:.2f}"


def _at_layer(name: str, axis: str, layer: float, value: float) -> str:
    return f"{name}, {axis} {layer:.0f}: {decimal(value) if value < 0 else rounded(value)}"


def in_and_out(curves: Mapping[str, Mapping[str, tuple[Array, Array]]], *, title: str, theme: Theme) -> Chart:
    """Two losses of each model against the step: one unbroken, one dashed.

    Args:
        curves: steps and values by what they are measured on, by the model's name.
        title: what is counted.
    """
    lines = [
        Line(
            name=f"{name}, {what}",
            x=steps,
            y=values,
            stroke=Stroke(colour=look.colour, dash=dash, dot=dot),
            said=partial(_at_step, f"{name}, {what}"),
        )
        for (name, found), look in zip(curves.items(), _strokes(theme), strict=True)
        for (what, (steps, values)), dash, dot in zip(found.items(), (DASHES[0], DASHES[1]), (0, 50), strict=True)
    ]
    return line_chart(lines, Axes(x="step", y=title, height=340), theme=theme)
