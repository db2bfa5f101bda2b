"""The function between the two matrices, and how many neurons it leaves on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from tfmviz.analysis import feed_forward
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import shades
from tfmviz.record.trace import Array
from tfmviz.ui import controls
from tfmviz.ui.feed_forward.subject import Subject
from tfmviz.ui.figures import result, show, theme
from tfmviz.words.numbers import decimal, per_cent

COMPARED = {"ReLU": feed_forward.relu, "GELU": feed_forward.gelu, "SiLU": feed_forward.silu}

DRAWN, RUG = (-4.0, 3.0), -0.4
"""The inputs between which the curves differ, and the height of the dots, below them all."""

DOTS = 200
"""Neurons drawn on the curve."""


def functions(subject: Subject) -> None:
    """Three functions as curves, and the chosen token's numbers on the layer's own."""
    weights, trace = subject.weights, subject.here.trace
    own = feed_forward.name_of(weights)
    inputs = feed_forward.driver(trace, subject.site)[subject.token].astype(np.float64)
    shown = np.sort(inputs)[np.linspace(0, len(inputs) - 1, min(len(inputs), DOTS)).round().astype(int)]
    outside = int(((shown < DRAWN[0]) | (shown > DRAWN[1])).sum())
    few = f" The dots are {DOTS} of them, evenly spaced by rank." if len(inputs) > DOTS else ""
    few += f" {outside} of the dots lie outside the picture." if outside else ""
    show("activations", _curves(COMPARED | {own: feed_forward.function_of(weights)}, own, shown))
    controls.token_box(subject.tokens, subject.token)
    gated = " Here it acts on the gates, which then multiply the other half." if weights.W_gate is not None else ""
    result(
        f"This layer uses **{own}**.{gated} Of the {len(inputs):,} values of {subject.name}, "
        f"{per_cent(float((inputs > 0).mean()))} are above 0 ({decimal(inputs.min())} to {decimal(inputs.max())}).{few}"
    )
    st.markdown("SwiGLU has no curve: it multiplies two products, SiLU(x W_gate) ⊙ x W_in (Shazeer 2020).")
    sparsity(subject)


def _curves(functions: dict[str, Callable[[Array], Array]], own: str, inputs: Array) -> Chart:
    """Activation functions as curves where they differ, and below them, dot by dot, where one token's inputs lie.

    Args:
        own: name of the layer's function.
        inputs: (n,), numbers before it; those outside of `DRAWN` are left out.
    """

    def at(name: str, x: float, _: float) -> str:
        return f"{name}({decimal(x)}) = {decimal(float(functions[name](np.array([x]))[0]))}"

    x, colours = np.linspace(*DRAWN, 161), shades(len(functions), theme())
    lines = [
        Line(name, x[::20], f(x[::20]), Stroke(colour, dash, 3 if name == own else 2), partial(at, name), (x, f(x)))
        for (name, f), colour, dash in zip(functions.items(), colours, DASHES, strict=False)
    ]
    inputs, none = inputs[(inputs >= DRAWN[0]) & (inputs <= DRAWN[1])], np.array([])
    stroke, height = Stroke(theme().accent, width=0, dot=28), np.full(len(inputs), RUG)
    lines.append(Line("this token's neurons", inputs, height, stroke, partial(at, own), (none, none)))
    return line_chart(lines, Axes("value before the function", "value after it"), theme=theme())


def sparsity(subject: Subject) -> None:
    """Share of neurons above 0, layer by layer."""
    trace, stack = subject.here.trace, subject.here.model.weights.stacks[subject.stack]
    shares = [float(feed_forward.share_on(trace, site).mean()) for site in stack.feed_forward]
    chart = bar_chart(
        [f"layer {n}" for n in range(len(shares))],
        np.array(shares),
        "share of neurons above 0",
        words=[per_cent(share) for share in shares],
        colours=[theme().accent if site == subject.site else theme().mlp for site in stack.feed_forward],
        theme=theme(),
    )
    show("sparsity", chart, title="How many neurons are above 0? The mean over your tokens")
