"""Predict, then reveal: one button hides what a class can guess and asks a question, the next click shows it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from tfmviz.ui.figures import show_plain_view
from tfmviz.views import guess as view

WIDTH = 66
"""Pixels of the button."""


def button() -> None:
    """The button, for the frame of all pages."""
    show_plain_view("guess", js=view.JS, css=view.CSS, data=None, width=WIDTH)


@contextmanager
def first(question: str, *, name: str) -> Iterator[None]:
    """The button hides what is drawn inside, but for its controls, and asks the question.

    Args:
        question: may hold text of the reader; "" where there is nothing to guess: what is inside then stays.
        name: differs from that of other figures on the page.
    """
    if not question:
        yield
        return
    with st.container(key=f"question-{name}"):
        st.text(question)
    with along(name):
        yield


@contextmanager
def along(name: str) -> Iterator[None]:
    """What is drawn inside would tell the answer, and is hidden too."""
    with st.container(key=f"hidden-{name}"):
        yield
