"""Putting figures and components on a page."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.views import explorer

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


def show_explorer(data: bytes, *, selection: dict[str, Any], on_report: Callable[[dict[str, Any]], None]) -> None:
    """The attention of every head, to be explored in the browser; see `tfmviz.views`.

    What is chosen travels in a component of its own, so that a click does not send the weights again.

    Args:
        data: from `views.payload`.
        selection: what Python has chosen.
        on_report: gets what the reader has chosen in the picture.
    """
    explorer, chosen = _components()
    explorer(
        key="explorer",
        data=data,
        on_selection_change=lambda: on_report(st.session_state["explorer"]["selection"]),
    )
    chosen(key="explorer_selection", data=selection)


def show_code(*functions: Callable[..., Any]) -> None:
    """The source of what was just shown, unfolded on demand."""
    with st.expander("Show the code that computes this"):
        for function in functions:
            st.code(inspect.cleandoc(inspect.getsource(function)), language="python")


@st.cache_resource(show_spinner=False)
def _components() -> tuple[Callable[..., Any], Callable[..., Any]]:
    component = st.components.v2.component
    return (
        component("tfmviz_explorer", js=explorer.script("streamlit"), css=explorer.CSS),
        component("tfmviz_explorer_selection", js=explorer.SELECTION_JS),
    )
