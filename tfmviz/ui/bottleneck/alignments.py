"""Where the decoder looks as it writes each token, beside the transformer's cross-attention, and the sum it is for."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis import alignment
from tfmviz.ui import controls, icons, translators
from tfmviz.ui.bottleneck import sums
from tfmviz.ui.bottleneck.choices import Translating
from tfmviz.ui.bottleneck.translations import name_of
from tfmviz.ui.figures import show
from tfmviz.ui.translators import SAID, source_of, written


def alignments(at: Translating) -> None:
    """α of the chosen model and the pattern of a head of the transformer, side by side; below, the sum at a click."""
    left, right = st.columns(2)
    with left:
        if alignment.has_attention(at.trace):
            _alpha(at)
        else:
            st.info("Without attention there is no α.", icon=icons.INFO)
    with right:
        _beside(at)
    if alignment.has_attention(at.trace):
        sums.context_sum(at)


def _alpha(at: Translating) -> None:
    alpha, tokens = at.trace["decoder.alpha"], at.written
    count = at.shown(len(tokens))
    show(
        "alignment",
        translators.alignment(alpha, f"α, {SAID[at.kind]}", at.source, tokens, count, sums.picked(at)),
        click="show its sum",
        on_pick=lambda row, column: controls.put({"word": str(row), "state": str(column)}),
    )


def _beside(at: Translating) -> None:
    model, choice = at.transformer, at.here.choice
    if model is None or not choice.layer.endswith("cross_attn"):
        st.info("Choose a transformer's cross-attention above to compare.", icon=icons.INFO)
        return
    trace = at.here.trace
    pattern, tokens = trace[f"{choice.layer}.pattern"][choice.head], written(trace, model.tokenizer.marks.ends)
    count = at.shown(len(tokens))
    title = f"{name_of(model)}, layer {choice.layer_index}, head {choice.head}"
    show(
        "cross",
        translators.alignment(pattern, title, source_of(trace), tokens, count),
        follows=alignment.has_attention(at.trace),
    )
