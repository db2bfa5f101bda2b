"""What the counted text is."""

from __future__ import annotations

import streamlit as st

from tfmviz.counting.words import MARK, UNKNOWN
from tfmviz.ui.counting import choices
from tfmviz.ui.counting.choices import Counting
from tfmviz.words.numbers import counted


def about(at: Counting) -> None:
    """Size, sources and licence of the text, and how it is cut into words."""
    n_different = at.text.vocab_size - len((MARK, UNKNOWN))
    sentences, tokens = counted(len(at.text.lines), "sentence"), counted(choices.n_words(at.text), "token")
    size = f"{sentences}, {tokens}, {n_different:,} different"
    whose = (
        f"Counted in your own text: {size}, part of this page's address."
        if at.is_own
        else f"Counted in the app's own text: {size}, from Common Voice (CC0), Tatoeba (CC BY 2.0 FR, tatoeba.org, via "
        "manythings.org/anki), Standard Ebooks and Project Gutenberg."
    )
    st.caption(
        f"{whose} Capitals are ignored. ⟨s⟩ separates sentences. ⟨unknown⟩ stands for any word missing from the text."
    )
