"""All walks with all their steps."""

from __future__ import annotations

import streamlit as st

from tfmviz.ui import icons, walks
from tfmviz.ui.figures import show_plain_view
from tfmviz.views import lectures as view
from tfmviz.words import markdown


def overview() -> None:
    """Every lecture with its steps as links, and the switch to a projector, which the links keep."""
    found, problems = walks.walks()
    for problem in problems:
        st.warning(markdown.plain(problem), icon=icons.WARNING)
    data = [
        {"title": walk.title, "steps": [[step.say, walk.address(n)] for n, step in enumerate(walk.steps, start=1)]}
        for walk in found.values()
    ]
    show_plain_view("lectures", js=view.JS, css=view.CSS, data=data)
