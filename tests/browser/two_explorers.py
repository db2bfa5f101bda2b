"""A page with two explorers, for `test_two_views.py`: what each is told, and what each reports."""

import sys
from pathlib import Path
from typing import Any

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.traces import decoder
from tfmviz import views
from tfmviz.ui.figures import show_view

TEXTS = {"left": ("The", " river", " bank"), "right": ("The", " bank", " gave", " money")}


def explorer(key: str, tokens: tuple[str, ...]) -> None:
    def follow(report: dict[str, Any]) -> None:
        st.session_state[f"{key}_choice"] = (int(report["layer"]), int(report["head"]), report["token"])

    layer, head, token = st.session_state.setdefault(f"{key}_choice", (0, 0, None))
    selection = {"kind": "decoder.self_attn", "layer": layer, "head": head, "token": token, "to": None, "look": ""}
    show_view(
        "explorer",
        key=key,
        data=views.payload(decoder(tokens, layers=2, heads=3)),
        selection=selection | {"first": None, "details": ""},
        on_report=follow,
    )
    st.text(f"{key}: layer {layer}, head {head}, token {token}")


def move(key: str) -> None:
    st.session_state[f"{key}_choice"] = (0, 1, None)


for column, (name, words) in zip(st.columns(2), TEXTS.items(), strict=True):
    with column:
        explorer(name, words)
        st.button(f"Move {name}", on_click=move, args=(name,))
