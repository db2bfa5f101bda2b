"""What the encoder does before the first word is written: every word of the source looks at all others."""

from __future__ import annotations

import streamlit as st

from tfmviz.plots import translating as figures
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.translating import attention


def draw(here: Lesson) -> None:
    layer, head = here.choice.layer_index, here.choice.head
    pattern, names = here.trace[f"encoder.{layer}.self_attn.pattern"][head], attention.sources(here.trace)
    title = f"Encoder, layer {layer}, head {head}"
    show_cells(
        figures.attention(pattern, queries=names, keys=names, title=title, across=False),
        key="encoder",
        alt=f"The last word, “{names[-1]}”, looks most at “{names[int(pattern[-1].argmax())]}”.",
    )
    st.markdown("There is no mask: a word also looks at later ones. The encoder runs once, for the whole translation.")
