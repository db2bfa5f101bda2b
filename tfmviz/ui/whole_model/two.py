"""The whole model on A and on B: each at its own depth, and how the vectors of the chosen token part."""

from __future__ import annotations

import streamlit as st

from tfmviz.ui import sides as both
from tfmviz.ui.lesson import Lesson, where_it_predicts
from tfmviz.ui.whole_model.picture import picture
from tfmviz.words import markdown


def side_by_side(here: Lesson, there: Lesson) -> None:
    """Both pictures, one above the other, and below them the cosines."""
    sides = both.of(here, there)
    with where_it_predicts():
        st.markdown(both.expected(sides))
    for lesson, title, key, token in (
        (here, sides.titles[0], "", sides.query),
        (there, sides.titles[1], "whole_model_b", sides.queries.partner(sides.query)),
    ):
        st.markdown(f"**{markdown.plain(title)}**")
        picture(lesson, key=key, token=token)
    both.show_likeness(sides)
