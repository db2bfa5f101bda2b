"""Pre-norm beside post-norm: one sentence through two models that differ in nothing else."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import residual
from tfmviz.analysis.block_tensors import block_tensors
from tfmviz.plots import stream as figures
from tfmviz.record.trace import Trace
from tfmviz.ui import controls, models
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown

TWINS = {"pre-norm": "twins-rope", "post-norm": "twins-postnorm"}
"""Two shipped models that differ in nothing but where their norms stand."""


def twins(here: Lesson) -> None:
    models_ = {kind: models.needed(name) for kind, name in TWINS.items()}
    runs = {kind: models.trace(model, here.text) for kind, model in models_.items() if model is not None}
    if len(runs) < len(TWINS):
        return
    controls.say_what_was_cut(runs["pre-norm"].target, "Both models read")
    measured = {}
    for kind, trace in runs.items():
        stages = residual.stages(trace, "decoder", "steps")
        measured[kind] = (list(stages), residual.lengths(trace, list(stages.values())))
    top = max(float(values.max()) for _, values in measured.values())
    for column, (kind, (names, values)) in zip(st.columns(2), measured.items(), strict=True):
        tokens = runs[kind].tokens
        position = controls.token(tokens, text=here.text)
        with column:
            st.markdown(f"**{kind}** ({markdown.code(TWINS[kind])})")
            show(
                figures.growth(
                    values,
                    stages=names,
                    tokens=tokens,
                    position=position,
                    theme=theme(),
                    top=top,
                ),
                key=f"growth_{kind.removesuffix('-norm')}",
                alt="Mean length: "
                + "; ".join(f"{n} {v:.1f}" for n, v in zip(names, values.mean(axis=1), strict=True)),
            )
    spread = {kind: values[-1].std() / values[-1].mean() for kind, (_, values) in measured.items()}
    st.markdown(
        f"After the last layer lengths vary by {spread['pre-norm']:.0%} of their mean with pre-norm, by "
        f"{spread['post-norm']:.0%} with post-norm."
    )
    _five_tensors(runs, min(here.choice.layer_index, residual.depth(runs["pre-norm"], "decoder") - 1))


def _five_tensors(runs: dict[str, Trace], layer: int) -> None:
    st.markdown(f"Layer {layer} turns X into H. Follow the +: with pre-norm it bypasses the norm.")
    columns: dict[str, list[str]] = {}
    for kind, trace in runs.items():
        tensors = block_tensors(trace, f"decoder.{layer}")
        columns[kind] = [tensor.equation for tensor in tensors]
        columns[f"length, {kind}"] = [f"{np.linalg.norm(tensor.value, axis=-1).mean():.2f}" for tensor in tensors]
    st.table(columns)
