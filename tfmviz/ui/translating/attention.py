"""What a translation looked at: the chosen head of cross-attention, or the mean of several."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.record.trace import Array, Trace
from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.words.labels import END, START, UNKNOWN, visible

ONE, LAYER, ALL = "one head", "mean of the layer", "mean of all layers"


def choose() -> str:
    """Asks which heads the figures show."""
    which = (
        st.segmented_control("Attention of", (ONE, LAYER, ALL), default=LAYER, key="heads", bind="query-params")
        or LAYER
    )
    if which != ONE:
        lesson.hide("head", *["layer"] * (which == ALL))
    return which


def crossing(here: Lesson, trace: Trace, which: str) -> Array:
    """Attention of the written words to the source, (q_len, k_len), whose rows sum to 1."""
    own = f"decoder.{here.choice.layer_index}.cross_attn.pattern"
    if which == ONE:
        return trace[own][here.choice.head]
    layers = [own] if which == LAYER else [f"{layer}.pattern" for layer in trace.layers if layer.endswith("cross_attn")]
    return np.mean([trace[layer].mean(axis=0) for layer in layers], axis=0)


def named(here: Lesson, which: str) -> str:
    layer = f"layer {here.choice.layer_index}"
    return {
        ONE: f"Cross-attention of {layer}, head {here.choice.head}",
        LAYER: f"Cross-attention of {layer}, mean of its heads",
        ALL: "Cross-attention, mean of all layers and heads",
    }[which]


def reads(trace: Trace) -> list[str]:
    """What the decoder has read last at every step: its own words, shifted right by one."""
    return [START, *(visible(token) for token in trace.tokens[1:])]


def writes(trace: Trace) -> list[str]:
    """What it writes at every step. After its last word comes the mark of the end, unless the text was cut off."""
    ends = int(trace.row("logits", -1).argmax()) == trace.target.ids[0]
    return [*reads(trace)[1:], END if ends else UNKNOWN]


def sources(trace: Trace) -> list[str]:
    assert trace.source is not None
    return [visible(token) for token in trace.source.tokens]
