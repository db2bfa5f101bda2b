"""Where a reader goes from here, and where old addresses lead."""

from __future__ import annotations

import streamlit as st

from tfmviz.ui.router import PAGES, Page


def lead_on() -> None:
    """Opens the explorer at what the address says if a session begins with one: `/?text=…` was the explorer's once."""
    begins = "at_home" not in st.session_state and "choice" not in st.session_state
    st.session_state["at_home"] = True
    if begins and set(st.query_params) - {"projector"}:
        st.switch_page(_page("explorer").file, query_params=st.query_params.to_dict())


def doors() -> None:
    """Three doors beside each other, each with what is behind it."""
    course = [page for page in PAGES if page.group]
    behind = {
        "Explore": (_page("explorer"), "Type your own sentence and look into every head."),
        "Give a lecture": (_page("lectures"), "Ten walks for a projector, with a line to say at every step."),
        "Learn step by step": (course[0], f"{len(course)} pages in order, from tokens to what a model costs."),
    }
    with st.container(key="doors"):
        columns = st.columns(len(behind))
    for column, (label, (page, words)) in zip(columns, behind.items(), strict=True):
        with column.container(border=True):
            st.page_link(page.file, label=f"**{label}**")
            st.markdown(words)


def _page(name: str) -> Page:
    return next(page for page in PAGES if page.name == name)
