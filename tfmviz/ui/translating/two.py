"""Two translations: where their words part, and what they look at meanwhile."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from tfmviz.analysis.side_by_side import parting
from tfmviz.ui import sides as both
from tfmviz.ui.boxes import marked
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.translating import attention
from tfmviz.words import markdown
from tfmviz.words.numbers import counted


def side_by_side(here: Lesson, there: Lesson) -> None:
    """The two texts, and the chosen head of cross-attention in both."""
    sides = both.of(_crossing(here), _crossing(there))
    texts = [attention.writes(side.trace) for side in sides.lessons]
    at = parting(*texts)
    if at is None:
        st.markdown("Both write the same translation.")
    else:
        a, b = (f"“{markdown.plain(text[at])}”" for text in texts)
        st.markdown(f"They part at token {at + 1}: A writes {a}, B {b}.")
    pieces = [marked(text, at) for text in texts]
    both.show_rows(sides.titles, [counted(len(text), "token") for text in texts], pieces, "the translation")
    st.markdown(f"{both.said(sides)} {both.how(sides)}")
    both.show_heads(sides)


def _crossing(side: Lesson) -> Lesson:
    """The same with the cross-attention of the chosen layer, and with a translation of its own."""
    layers = [layer for layer in side.model.config.layers if layer.endswith("cross_attn")]
    layer = layers[min(side.choice.layer_index, len(layers) - 1)]
    return replace(side, choice=replace(side.choice, layer=layer), writes_with_edits=True)
