"""Predict, then reveal: one button hides the values that a class can guess and shows a question; the next click shows
both the guess and the values.

Only the browser keeps the guess (`views/question`): the name of its question, and the position of a token or words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from tfmviz.ui import side
from tfmviz.ui.figures import show_plain_view

WIDTH = 52


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question for the class.

    Attributes:
        text: may contain text of the reader.
        tokens: gives the labels of the tokens that may be the answer, none for an answer that is no token. A function,
            since only the open tab asks.
        answer: the model's, in words; "" where the figure alone gives it.
    """

    text: str
    tokens: Callable[[], Sequence[str]] = tuple
    answer: str = ""


def button() -> None:
    show_plain_view("guess", data=None, width=WIDTH)


@contextmanager
def first(question: str | Question, *, name: str) -> Iterator[None]:
    """The button hides the values of what is drawn inside, but not its controls.

    Args:
        question: "" where there is nothing to guess: everything stays visible.
        name: unique among the figures of the page.
    """
    if not question:
        yield
        return
    name = side.key(name)
    asked = Question(text=question) if isinstance(question, str) else question
    data = [name, asked.text, list(asked.tokens()), asked.answer]  # for a list in a dictionary Streamlit imports pandas
    with st.container(key=f"question-{name}"):
        st.html("<i></i><style>.st-key-guess {display: block !important}</style>")
        show_plain_view("question", data=data, key=f"asked_{name}")
    with along(name):
        yield


@contextmanager
def along(name: str) -> Iterator[None]:
    """Hides, with the figure, whatever else would give the answer away."""
    with st.container(key=side.key(f"hidden-{name}")):
        yield
