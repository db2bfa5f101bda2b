"""Every page's header with the menu, the search and the buttons, and a note when the server is away."""

from __future__ import annotations

import json

import streamlit as st

from tfmviz.ui import guess, projector, search
from tfmviz.ui.figures import show_choice
from tfmviz.ui.router import PAGES, Page, address, is_unknown

SHORT = {"Before attention": "Before"}
"""For narrow windows."""


def draw(shown: str) -> None:
    """Draws the header of the page `shown`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="header"):
        show_choice("frame", data=_menu(shown), on_pick=lambda _: None)  # a new run, in other colours
        search.box()
        guess.button()
        projector.buttons()
    if is_unknown():
        st.info("There is no page at this address. This is the first page.")


def _menu(shown: str) -> dict[str, str]:
    groups: dict[str, list[Page]] = {}
    for page in PAGES:
        groups.setdefault(page.group or page.name, []).append(page)
    ordered = sorted(groups.items(), key=lambda group: group[0] == "contents")
    menu = [
        {
            "name": pages[0].group,
            "short": SHORT.get(name, name),
            "pages": [[page.title, address(page.name), page.answers] for page in pages],
        }
        for name, pages in ordered
    ]
    title = next(page.title for page in PAGES if page.name == shown)
    return {"title": title, "groups": json.dumps(menu)}  # for lists of records Streamlit would import pandas
