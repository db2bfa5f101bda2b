"""Static c beside dynamic c_i: the numbers that the decoder is given for every token."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis import alignment
from tfmviz.plots.cells import largest
from tfmviz.ui import translators
from tfmviz.ui.bottleneck import sums
from tfmviz.ui.bottleneck.choices import Translating
from tfmviz.ui.figures import show
from tfmviz.ui.translators import SAID, written


def contexts(at: Translating) -> None:
    """The contexts of the model without attention, and of one with it, on one scale."""
    with_attention = at.kind if at.kind != "none" else next((kind for kind in at.recurrent if kind != "none"), "none")
    shown = [kind for kind in dict.fromkeys(("none", with_attention)) if kind in at.recurrent]
    traces = {kind: translators.trace(at.recurrent[kind], at.here.text) for kind in shown}
    end = max(largest(trace[alignment.CONTEXT]) for trace in traces.values())
    for (kind, trace), column in zip(traces.items(), st.columns(len(traces)), strict=True):
        title, values, names = "cᵢ = Σⱼ αᵢⱼ hⱼ, ", trace[alignment.CONTEXT], written(trace)
        if kind == "none":
            title, values = "c = hₙ, ", values[:1].repeat(len(names), axis=0)
        drawn = sums.picture(values, title + SAID[kind], names, at.shown(len(names)), limit=end)
        with column:
            show(f"contexts_{kind}", drawn, follows=kind != shown[0])
    sums.state_step(at, traces[with_attention], with_attention)
