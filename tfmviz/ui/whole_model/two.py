"""The whole model on A and on B: each at its own depth, and how the vectors of the chosen token part."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.side_by_side import pair_tokens
from tfmviz.record.trace import Encoding
from tfmviz.ui import sides as both
from tfmviz.ui.figures import Link
from tfmviz.ui.lesson import Lesson, where_it_predicts
from tfmviz.ui.sides import Sides
from tfmviz.ui.whole_model.picture import VIEWS, draw
from tfmviz.words import markdown


def side_by_side(here: Lesson, there: Lesson) -> None:
    """Both pictures, one above the other, and below them the cosines; what is chosen in one is chosen in both."""
    sides = both.of(here, there)
    with where_it_predicts():
        st.markdown(both.expected(sides))
    tokens = sides.query, sides.queries.partner(sides.query)
    for n, (lesson, places) in enumerate(zip(sides.lessons, _places(sides), strict=True)):
        st.markdown(f"**{markdown.plain(sides.titles[n])}**")
        draw(lesson, tokens[n], key=VIEWS[n], link=Link(view=VIEWS[1 - n], places=places, follows=n == 1))
    both.show_likeness(sides)


def _places(sides: Sides) -> list[dict[str, list[int]]]:
    """The places of the tokens of every stack of A and of B; those of a translator's other text come last."""
    places = [{both.stack_of(lesson): sides.queries.places(n)} for n, lesson in enumerate(sides.lessons)]
    (stack_a, text_a), (stack_b, text_b) = map(_other_text, sides.lessons)
    if text_a and text_b:
        pairing = pair_tokens(text_a, text_b)
        for n, stack in enumerate((stack_a, stack_b)):
            places[n][stack] = [len(sides.queries.order) + place for place in pairing.places(n)]
    return places


def _other_text(lesson: Lesson) -> tuple[str, Encoding | None]:
    """The stack that the chosen layer is not in, and what it reads; None where there is only one."""
    if both.stack_of(lesson) == "encoder":
        return "decoder", lesson.trace.target if lesson.trace.source else None
    return "encoder", lesson.trace.source
