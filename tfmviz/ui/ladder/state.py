"""The recurrent network opened: its state and gates at every token, and how gradients fade on their way back."""

from __future__ import annotations

from typing import Literal

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.recurrence import Steps, fading
from tfmviz.plots.cells import Axis, Cells, Form, of_tokens, share, signed
from tfmviz.plots.lines import Axes, curves
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import inputs, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, theme
from tfmviz.ui.ladder import rungs
from tfmviz.ui.lesson import Lesson
from tfmviz.words.labels import visible
from tfmviz.words.numbers import rounded

SHOWN = 28
"""How many numbers of a state are drawn."""

SITES: dict[str, tuple[str, Literal["signed", "share"]]] = {
    "state h": ("hidden", "signed"),
    "candidate n": ("candidate", "signed"),
    "update gate z": ("update", "share"),
    "reset gate r": ("reset", "share"),
}
"""What can be shown: its site, and its colours."""

UNIT_HEIGHT = 8
"""Pixels of a row that stands for one number of a state."""

SMALLEST = 1e-12
"""The axis ends here: a gradient so small is drawn at the end."""


def state(here: Lesson) -> None:
    """State or gates through time, then the fading gradient."""
    model = rungs.ladder().recurrent
    layers = range(model.config.to_dict()["n_layers"])
    with lesson.line("state"):
        what = inputs.segmented_control("Show", list(SITES), default="state h", key="gate")
        layer = inputs.segmented_control("Layer of the network", layers, default=0, key="rnn")
    site, kind = SITES[what or "state h"]
    trace = record(model, here.text)
    values = trace[f"rnn.{layer}.{site}"].T  # (unit, token)
    chosen = np.sort(np.argsort(-trace[f"rnn.{layer}.hidden"].std(axis=0), kind="stable")[:SHOWN])
    rows, columns = Axis("unit", (), [f"unit {number}" for number in chosen]), of_tokens("token", trace.tokens)
    scale = signed(values, "value", limit=1.0) if kind == "signed" else share("how far the gate is open")
    form = Form(digits=2, sign=kind == "signed")
    show("state", Cells(values[chosen][None], rows, columns, scale, form=form, row_height=UNIT_HEIGHT))
    st.markdown(
        f"The {len(chosen)} of {len(values)} units in layer {layer} that change most. "
        "hₜ = (1 − z) ⊙ n + z ⊙ hₜ₋₁, so near z = 1 the colour stays."
    )
    _fading(model, trace)


def _fading(model: AnyModel, trace: Trace) -> None:
    layers = range(model.config.to_dict()["n_layers"])
    values = {f"layer {layer}": faded(model, trace.target.text, layer) for layer in layers}
    x = np.arange(1.0, len(trace.tokens) + 1)
    show(
        "fading",
        curves(
            {name: (x, curve.clip(min=SMALLEST)) for name, curve in values.items()},
            Axes("step t", "‖∂hₜ/∂h₁‖", 280, log=True),
            lambda name, t, value: f"{name}, step {t:.0f}, “{visible(trace.tokens[int(t) - 1])}”: {rounded(value)}",
            theme=theme(),
            y_range=_ends(list(values.values())),
        ),
        title="How much of the first step is left? As ‖∂hₜ/∂h₁‖, relative to its start, fades, so does learning.",
    )


def _ends(curves: list[Array]) -> tuple[float, float]:
    lowest = max(min(float(curve.min()) for curve in curves), SMALLEST)
    return min(10.0 ** np.floor(np.log10(lowest)), 0.1), max(float(curve.max()) for curve in curves)


@shared
def record(model: AnyModel, text: str) -> Trace:
    return model.trace(text, sites=("rnn.*",))


@shared
def faded(model: AnyModel, text: str, layer: int) -> Array:
    trace = record(model, text)
    at = Steps(**{site: trace[f"rnn.{layer}.{site}"] for site in ("reset", "update", "candidate", "hidden")})
    return fading(zoo.experiments.recurrent_weights(model, layer), at)
