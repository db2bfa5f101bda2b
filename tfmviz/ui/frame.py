"""What stands at the upper edge of every page: the search, and what Streamlit's menu lacks."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from tfmviz.ui import find
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.router import group_of
from tfmviz.views import frame as view


def draw(here: StreamlitPage) -> None:
    """Draws the search, and marks the group of the open page in the menu."""
    with st.container(key="search"):
        find.box()
        show_plain_view("frame", js=view.JS, css="", data={"group": group_of(here)})
