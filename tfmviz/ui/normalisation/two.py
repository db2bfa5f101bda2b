"""One token's vector in A and in B, before and after the norm of the chosen layer."""

from __future__ import annotations

import streamlit as st

from tfmviz.record.trace import Array
from tfmviz.ui import controls
from tfmviz.ui import sides as both
from tfmviz.ui.beside import What
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.normalisation.facts import normed
from tfmviz.views.counts import of_columns
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries
from tfmviz.words.numbers import decimal

OPTIONS: tuple[What, ...] = ("another sentence", "another model")

ROWS = ("mean before", "standard deviation before", "mean after", "standard deviation after")


def side_by_side(here: Lesson, there: Lesson) -> None:
    """Mean and standard deviation of both vectors."""
    sides = both.of(here, there)
    controls.token_box(of_queries(here.trace, here.choice.layer), sides.query)
    at = sides.queries.partner(sides.query)
    if at is None:
        st.markdown(both.lacks(sides))
        return
    vectors = [_vectors(side, position) for side, position in zip(sides.lessons, (sides.query, at), strict=True)]
    (a, a_after), (b, b_after) = vectors
    result(
        f"The norm takes the standard deviation of {markdown.plain(both.query_name(sides))} from "
        f"{decimal(a.std())} to {decimal(a_after.std())} in A, "
        f"from {decimal(b.std())} to {decimal(b_after.std())} in B."
    )
    columns = {"its numbers": list(ROWS)}
    for title, pair in zip(sides.titles, vectors, strict=True):
        columns[title] = [decimal(float(value), ".3f") for x in pair for value in (x.mean(), x.std())]
    show("side_norms", of_columns(columns, caption="Before the norm and after"))


def _vectors(side: Lesson, position: int) -> tuple[Array, Array]:
    """What the norm gets and what it gives, with γ and β."""
    return normed(side)[position], side.trace[f"{side.choice.layer}.norm"][position]
