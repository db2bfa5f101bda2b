"""What the counted text is."""

from __future__ import annotations

import streamlit as st

from tfmviz.counting.words import MARK, UNKNOWN
from tfmviz.plots.numbers import counted
from tfmviz.ui import controls
from tfmviz.ui.counting import choices
from tfmviz.ui.counting.choices import Counting


def about(at: Counting) -> None:
    """Size, sources and licence of the text, and how it is cut into words."""
    n_different = at.text.vocab_size - len((MARK, UNKNOWN))
    sentences, tokens = counted(len(at.text.lines), "sentence"), counted(choices.n_words(at.text), "token")
    size = f"{sentences}, {tokens}, {n_different:,} different"
    if at.is_own:
        st.markdown(f"Your own text: {size}. It is part of the address of this page.")
    else:
        st.markdown(
            f"The text that comes with the app: {size}. Its sentences are from Common Voice (CC0), the Tatoeba Project "
            "(CC BY 2.0 FR, tatoeba.org, via manythings.org/anki) and children's classics in the public domain "
            "(Standard Ebooks, Project Gutenberg). A hash of each sentence decides whether it is held out."
        )
    st.markdown(
        "A token is a word with its apostrophes, a number, or a single other sign, such as a comma or a Chinese "
        "character. Capitals make no difference. ⟨s⟩ stands between two sentences, and no n-gram reaches over it. A "
        "word that the text lacks is ⟨unknown⟩: one more entry of the vocabulary, never counted. To count in a text of "
        f"your own, choose “{choices.OWN}” under “Text” above and paste up to {controls.MAX_CHARACTERS:,} characters."
    )
