"""The function between the two matrices, and how many neurons it leaves on."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import feed_forward
from tfmviz.plots import feed_forward as figures
from tfmviz.ui import controls
from tfmviz.ui.feed_forward.subject import Subject
from tfmviz.ui.figures import result, show, theme
from tfmviz.words.numbers import decimal, per_cent

COMPARED = {"ReLU": feed_forward.relu, "GELU": feed_forward.gelu, "SiLU": feed_forward.silu}

DOTS = 200
"""Neurons drawn on the curve."""


def functions(subject: Subject) -> None:
    """Three functions as curves, and the chosen token's numbers on the layer's own."""
    weights, trace = subject.weights, subject.here.trace
    own = feed_forward.name_of(weights)
    inputs = feed_forward.driver(trace, subject.site)[subject.token].astype(np.float64)
    shown = np.sort(inputs)[np.linspace(0, len(inputs) - 1, min(len(inputs), DOTS)).round().astype(int)]
    outside = int(((shown < figures.DRAWN[0]) | (shown > figures.DRAWN[1])).sum())
    few = f" The dots are {DOTS} of them, evenly spaced by rank." if len(inputs) > DOTS else ""
    few += f" {outside} of the dots would lie outside the picture." if outside else ""
    show(
        "activations",
        figures.activations(COMPARED | {own: feed_forward.function_of(weights)}, own=own, inputs=shown, theme=theme()),
    )
    controls.token_box(subject.tokens, subject.token)
    gated = " Here it acts on the gates, which then multiply the other half." if weights.W_gate is not None else ""
    result(
        f"This layer uses **{own}**.{gated} Of the {len(inputs):,} numbers of {subject.name}, "
        f"{per_cent(float((inputs > 0).mean()))} are above 0 ({decimal(inputs.min())} to {decimal(inputs.max())}).{few}"
    )
    st.markdown("SwiGLU has no curve: it multiplies two products, SiLU(x W_gate) ⊙ x W_in (Shazeer 2020).")
    sparsity(subject)


def sparsity(subject: Subject) -> None:
    """Share of neurons above 0, layer by layer."""
    trace, stack = subject.here.trace, subject.here.model.weights.stacks[subject.stack]
    shares = [float(feed_forward.share_on(trace, site).mean()) for site in stack.feed_forward]
    chart = figures.sparsity(shares, chosen=list(stack.feed_forward).index(subject.site), theme=theme())
    show("sparsity", chart, title="How many neurons are above 0, in the mean over your tokens?")
