"""Putting figures and components on a page."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from tfmviz.plots.labels import visible
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.trace import Array, Encoding
from tfmviz.ui import controls
from tfmviz.views import token_strip

CONFIG = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "svg", "filename": "tfmviz"},
}


def theme() -> Theme:
    """The figures' colours for the mode the reader's browser is in."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draws a figure.

    Args:
        alt: what the figure shows, in words, for screen readers.
    """
    st.plotly_chart(figure, key=key, theme=None, config=CONFIG, alt=alt)


def show_clickable(figure: go.Figure, *, key: str, alt: str, on_click: Callable[[Any], None]) -> None:
    """Draws a figure whose points can be clicked; `on_click` gets the point's `customdata`."""

    def clicked() -> None:
        if points := st.session_state[key].selection.points:
            on_click(points[0]["customdata"])

    st.plotly_chart(figure, key=key, theme=None, config=CONFIG, alt=alt, on_select=clicked, selection_mode="points")


def show_tokens(encoding: Encoding, *, weights: Array, allowed: Array, chosen: int) -> None:
    """The sentence as buttons, shaded by what the chosen token looks at; a click chooses another.

    Args:
        weights: (len,), attention of the chosen token.
        allowed: (len,), False where the mask forbids looking.
    """
    tokens = [
        {
            "label": visible(token),
            "title": f"Token {position}: “{token}”",
            "weight": round(float(weight), 4) if may else None,
        }
        for position, (token, weight, may) in enumerate(zip(encoding.tokens, weights, allowed, strict=True))
    ]
    _strip()(
        key="token_strip",
        data={"tokens": tokens, "chosen": chosen},
        on_picked_change=lambda: controls.choose_token(st.session_state["token_strip"].picked),
    )


def show_code(*functions: Callable[..., Any]) -> None:
    """The source of what was just shown, unfolded on demand."""
    with st.expander("Show the code that computes this"):
        for function in functions:
            st.code(inspect.cleandoc(inspect.getsource(function)), language="python")


@st.cache_resource(show_spinner=False)
def _strip() -> Callable[..., Any]:
    return st.components.v2.component("tfmviz_token_strip", js=token_strip.JS, css=token_strip.CSS)
