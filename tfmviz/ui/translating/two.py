"""Two translations: where their words part, and what they look at meanwhile."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from tfmviz.ui import sides as both
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.translating import attention


def side_by_side(here: Lesson, there: Lesson) -> None:
    sides = both.of(_crossing(here), _crossing(there))
    both.show_texts(sides.titles, [attention.writes(side.trace) for side in sides.lessons], "the translation")
    st.markdown(f"{both.said(sides)} {both.how(sides)}")
    both.show_heads(sides)


def _crossing(side: Lesson) -> Lesson:
    """The same with the cross-attention of the chosen layer, and with a translation of its own."""
    layers = [layer for layer in side.model.config.layers if layer.endswith("cross_attn")]
    layer = layers[min(side.choice.layer_index, len(layers) - 1)]
    return replace(side, choice=replace(side.choice, layer=layer), writes_with_edits=True)
