"""Contextual vectors: one word in two places, layer by layer, and the models that first kept such vectors."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.in_context import InContext, again
from tfmviz.analysis.in_context import in_context as compared
from tfmviz.plots.lines import Axes, curves
from tfmviz.record.trace import Encoding
from tfmviz.ui import controls, icons, lesson
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal

KEPT = Table(
    caption="What each model passes on to the next task",
    columns=("model", "kept", "learned first → trained for the task"),
    rows=(
        ("CoVe 2017", "last states", "to translate → the task's own network alone"),
        ("ELMo 2018", "sum of layers", "next and previous words → weights of the sum, the task's own network"),
        ("ULMFiT 2018", "the model", "next words → all of it, layer after layer"),
        ("BERT 2018", "the model", "hidden words, next sentences → all of it, and one new layer"),
    ),
    about="McCann et al., Peters et al., Howard and Ruder, Devlin et al. Next-sentence prediction asks whether B "
    "follows A in the text. RoBERTa (Liu et al. 2019) left it out and lost nothing.",
)


def in_context(here: Lesson) -> None:
    """The cosines of two tokens' vectors, stage by stage; then the table."""
    tokens = here.trace.axes(here.choice.layer)[0]
    if len(tokens.ids) < 2:
        st.info("Type at least two tokens.", icon=icons.INFO)
    else:
        _pair(here)
    show("kept", KEPT)


def _pair(here: Lesson) -> None:
    tokens = here.trace.axes(here.choice.layer)[0]
    names = [visible(token) for token in tokens.tokens]
    first, second = _places(here, tokens)
    with lesson.line("in_context"):
        controls.token_box(names, first, label="This token")
        controls.other_box(names, second, label="and this one")
    found = compared(here.trace, here.choice.layer.split(".")[0], tokens.ids, (first, second))
    _lines(found, [f"{names[at]} {at}" for at in (first, second)])
    said = quoted(tokens.tokens)
    _said(found, said[first], said[second], same=tokens.ids[first] == tokens.ids[second])


def _places(here: Lesson, tokens: Encoding) -> tuple[int, int]:
    """The chosen token, at first the longest that stands in the text twice; and the same token again."""
    first, ids = here.query, tokens.ids
    if not here.is_chosen and again(ids, first) is None:
        twice = [at for at in range(len(ids)) if again(ids, at) is not None]
        first = max(twice, key=lambda at: len(tokens.tokens[at].strip()), default=first)
    other, asked = again(ids, first), controls.pinned("to")
    if asked is not None:
        other = min(asked, len(ids) - 1)
    return first, (first + 1) % len(ids) if other is None else other


def _lines(found: InContext, names: list[str]) -> None:
    x = np.arange(float(len(found.stages)))
    values = {
        "each other": found.each_other,
        f"{names[0]}, its embedding": found.static[0],
        f"{names[1]}, its embedding": found.static[1],
        "any two tokens": found.usual,
    }
    show(
        "in_context",
        curves(
            {name: (x, line) for name, line in values.items()},
            Axes("layers completed", "cosine", 330),
            lambda name, at, value: f"{name}, {found.stages[int(at)]}: {decimal(value)}",
            theme=theme(),
        ),
    )


def _said(found: InContext, first: str, second: str, *, same: bool) -> None:
    a, b = (markdown.plain(name) for name in (first, second))
    start, end = (decimal(float(found.each_other[at])) for at in (0, -1))
    begins = f"{a} and {b} have {'one embedding' if same else 'two embeddings'}"
    result(
        f"**{begins} and, in context, two vectors.** Their cosine is {start} at the start and {end} after the last "
        f"layer, where different tokens average {decimal(float(found.usual[-1]))}."
    )
