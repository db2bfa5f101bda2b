"""Putting a client-side view on a page; see `tfmviz.views.shared`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from tfmviz.views.shared import RELAY_JS


def show_view(
    name: str,
    *,
    js: str,
    css: str,
    data: bytes | dict[str, Any],
    selection: dict[str, Any],
    on_report: Callable[[dict[str, Any]], None],
) -> None:
    """Draws a view. What is chosen travels in a component of its own, so that a click does not send the data again.

    Args:
        selection: what Python has chosen.
        on_report: gets what the reader has chosen in the view.
    """
    view, relay = _components(name, js, css)
    view(key=name, data=data, on_selection_change=lambda: on_report(st.session_state[name]["selection"]))
    relay(key=f"{name}_selection", data=selection | {"view": name})


@st.cache_resource(show_spinner=False)
def _components(name: str, js: str, css: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    component = st.components.v2.component
    return component(f"tfmviz_{name}", js=js, css=css), component(f"tfmviz_{name}_selection", js=RELAY_JS)
