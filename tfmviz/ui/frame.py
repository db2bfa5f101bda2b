"""What every page has: the search, what Streamlit's menu lacks, and a word when server or page are not there."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from tfmviz.ui import find
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.router import group_of, is_unknown
from tfmviz.views import frame as view


def draw(here: StreamlitPage) -> None:
    """Draws the search, and marks the group of the open page in the menu."""
    if is_unknown():
        st.info("There is no page at this address. This is the first page.")
    with st.container(key="search"):
        find.box()
        show_plain_view("frame", js=view.JS, css=view.CSS, data={"group": group_of(here)})
