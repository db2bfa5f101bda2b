"""The pair of tokens that the page is about, and its score as a sum."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.why.score import Pair, ScoreSum, Side, score_sum, sharing
from tfmviz.plots.cells import Axis, Cells, Form, chosen_cell, short, signed
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import AttentionWeights
from tfmviz.ui import icons, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted


def ask(here: Lesson) -> ScoreSum | None:
    """Asks for the two tokens; None, with a note, where there is no score."""
    if here.weights.is_linear:
        st.info("Linear attention has no scores. Choose another model.", icon=icons.INFO)
        return None
    with lesson.line("pair"):
        lesson.pair_boxes(here)
    return sum_of(here.model, here.text, pair_of(here))


def pair_of(here: Lesson) -> Pair:
    return Pair(layer=here.choice.layer, head=here.choice.head, query=here.query, key=here.key)


@shared
def sum_of(model: Model, text: str, pair: Pair) -> ScoreSum:
    trace = models.trace(model, text)
    return score_sum(trace, pair, model.weights, lesson.positions_in(model, trace, pair.layer))


def names(here: Lesson) -> dict[Side, str]:
    """The two tokens as Markdown: “it”."""
    return {side: markdown.plain(label) for side, label in labels(here).items()}


def labels(here: Lesson) -> dict[Side, str]:
    """The two tokens as text: “it”."""
    queries, keys = here.trace.axes(here.choice.layer)
    return {"query": quoted(queries.tokens)[here.query], "key": quoted(keys.tokens)[here.key]}


def said(writer: str) -> str:
    """A writer within a sentence: "the embedding", but "MLP 0"."""
    return writer if any(map(str.isdigit, writer)) else f"the {writer}"


def terms(values: Array, rows: Axis, columns: Axis, added: str, *, chosen: tuple[int, int] | None = None) -> Cells:
    """The terms of a sum, (row, column), such as a score: signed, with small ones visible."""
    scale, texts = signed(values, added, root=True), short(values, "+.2f")
    form, frames = Form(sign=True), chosen_cell(chosen)
    return Cells(values[None], rows, columns, scale, form=form, texts=texts, frames=frames, row_height=30)


def together(attention: AttentionWeights, head: int) -> str:
    """Which other heads lose a share of a key or value too, where heads have them in common; "" where none does."""
    heads = sharing(attention, head)
    if len(heads) == 1:
        return ""
    return f" Heads {', '.join(map(str, heads))} share keys and values."
