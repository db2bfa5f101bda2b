"""Where a reader goes from here, and where old addresses lead."""

from __future__ import annotations

import json

import streamlit as st

from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.home import miniatures
from tfmviz.ui.home.stage import Shown
from tfmviz.ui.router import PAGES, Page, address
from tfmviz.views import doors as view


def lead_on() -> None:
    """Opens the explorer at what the address says if a session begins with one: `/?text=…` was the explorer's once."""
    begins = "at_home" not in st.session_state and "choice" not in st.session_state
    st.session_state["at_home"] = True
    if begins and set(st.query_params) - {"projector"}:
        st.switch_page(_page("explorer").file, query_params=st.query_params.to_dict())


def quiet() -> None:
    """Two links, for those who teach and for those who learn."""
    course = next(page for page in PAGES if page.group)
    st.page_link(_page("lectures").file, label="Give a lecture")
    st.page_link(course.file, label="Learn step by step")


def doors(shown: Shown) -> None:
    """Six pictures of the sentence beside each other, each the door to its page."""
    at = {"layer": shown.layer.split(".")[1], "head": str(shown.head)}
    behind = [
        {**picture, "address": address(page, at | choices)}
        for page, choices, picture in miniatures.of(shown.model, shown.text, shown.layer, shown.head, shown.word)
    ]
    # The view puts the sentence into each address: a long one travels once.
    data = {"text": shown.text, "doors": json.dumps(behind)}
    show_plain_view("doors", js=view.JS, css=view.CSS, data=data)


def _page(name: str) -> Page:
    return next(page for page in PAGES if page.name == name)
