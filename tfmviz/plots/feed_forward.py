"""Figures of the feed-forward page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tfmviz.plots.bars import bar_chart
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, per_cent

DRAWN, RUG = (-4.0, 3.0), -0.4
"""The inputs between which the curves differ, and the height of the dots, below them all."""


def directions(words: Sequence[str], values: Array, *, theme: Theme) -> Chart:
    """The words whose logits a neuron raises, and those it lowers."""
    names = [visible(word) for word in words]
    return bar_chart(
        names,
        values,
        roles=["raises" if value > 0 else "lowers" for value in values],
        colours=(("raises", theme.signed[2]), ("lowers", theme.signed[0])),
        words=[decimal(value, "+.2f") for value in values],
        said=[f"“{name}”: {decimal(value, '+.3f')}" for name, value in zip(names, values, strict=True)],
        title="change of the logit per unit of the neuron",
        room=1.3,
        theme=theme,
    )


def activations(
    functions: Mapping[str, Callable[[Array], Array]],
    *,
    own: str,
    inputs: Array,
    theme: Theme,
) -> Chart:
    """Activation functions as curves where they differ, and below them, dot by dot, where one token's inputs lie.

    Args:
        functions: by name.
        own: name of the layer's function.
        inputs: (n,), numbers before it; those outside of `DRAWN` are left out.
    """
    x = np.linspace(*DRAWN, 161)
    inputs = inputs[(inputs >= DRAWN[0]) & (inputs <= DRAWN[1])]
    colours = dict(zip(functions, shades(len(functions), theme), strict=False))
    lines = [
        Line(
            name=name,
            x=x[::20],
            y=f(x[::20]),
            smooth=(x, f(x)),
            stroke=Stroke(colour=colours[name], dash=DASHES[n], width=3 if name == own else 2),
            said=lambda a, b, name=name: f"{name}({decimal(a)}) = {decimal(b)}",  # type: ignore[misc]
        )
        for n, (name, f) in enumerate(functions.items())
    ]
    dots = Line(
        name="this token's neurons",
        x=inputs,
        y=np.full(len(inputs), RUG),
        smooth=(np.array([]), np.array([])),
        stroke=Stroke(colour=theme.accent, width=0, dot=28),
        said=lambda a, _: f"{own}({decimal(a)}) = {decimal(float(functions[own](np.array([a]))[0]))}",
    )
    return line_chart([*lines, dots], Axes(x="value before the function", y="value after it"), theme=theme)


def sparsity(shares: Sequence[float], *, chosen: int | None, theme: Theme) -> Chart:
    """Per layer the share of neurons above 0."""
    names = [f"layer {n}" for n in range(len(shares))]
    return bar_chart(
        names,
        np.array(shares),
        roles=["chosen" if n == chosen else "other" for n in range(len(shares))],
        colours=(("other", theme.mlp), ("chosen", theme.accent)),
        words=[per_cent(share) for share in shares],
        said=[f"{name}: {per_cent(share)}" for name, share in zip(names, shares, strict=True)],
        title="share of neurons above 0",
        room=1.2,
        theme=theme,
    )
