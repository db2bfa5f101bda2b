"""Static c beside dynamic c_i: the numbers that the decoder is given for every token."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis import alignment
from tfmviz.plots import bottleneck as figures
from tfmviz.plots.cells import largest
from tfmviz.record.trace import Trace
from tfmviz.ui import translators
from tfmviz.ui.bottleneck.choices import Translating
from tfmviz.ui.figures import show
from tfmviz.ui.translators import SAID, written
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal


def contexts(at: Translating) -> None:
    """The contexts of the model without attention, and of one with it, on one scale."""
    with_attention = at.kind if at.kind != "none" else next((kind for kind in at.recurrent if kind != "none"), "none")
    shown = [kind for kind in dict.fromkeys(("none", with_attention)) if kind in at.recurrent]
    traces = {kind: translators.trace(at.recurrent[kind], at.here.text) for kind in shown}
    end = max(largest(trace[alignment.CONTEXT]) for trace in traces.values())
    for (kind, trace), column in zip(traces.items(), st.columns(len(traces)), strict=True):
        count = at.shown(len(written(trace)))
        with column:
            title = "c = hₙ, " if kind == "none" else "cᵢ = Σⱼ αᵢⱼ hⱼ, "
            show(
                f"contexts_{kind}",
                figures.contexts(
                    trace[alignment.CONTEXT], title=title + SAID[kind], written=written(trace), shown=count, limit=end
                ),
                alt=_said(trace, count),
            )
    st.markdown("Without attention all rows are one vector; with it each is a mixture of its own.")


def _said(trace: Trace, count: int) -> str:
    steps = alignment.changes(trace)[: max(count - 1, 0)]
    rows = [
        f"{name} {decimal(float(step))}" for name, step in zip(quoted(written(trace), first=1)[1:], steps, strict=False)
    ]
    return "How far each context is from the one before, over its length: " + ("; ".join(rows) or "none") + "."
