"""The lectures' page: all walks with all their steps."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from tfmviz.ui import icons, walks
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.walks import Walk
from tfmviz.views import lectures as view
from tfmviz.words import markdown

ASKED = 3
"""Lines of a lecture shown before it is opened."""


def overview() -> None:
    """Every lecture as a card that begins it, with links to its steps."""
    found, problems = walks.walks()
    for problem in problems:
        st.warning(markdown.plain(problem), icon=icons.WARNING)
    data = view.payload({"": [_card(walk) for walk in found.values()]}, of="steps", opens="Start")
    show_plain_view("lectures", js=view.JS, css=view.CSS, data=data)


def _card(walk: Walk) -> view.Entry:
    says = sorted((step.say for step in walk.steps), key=lambda say: "?" not in say)[:ASKED]
    steps = enumerate(walk.steps, start=1)
    folded = [
        (section, [(step.say, walk.address(n)) for n, step in found])
        for section, found in groupby(steps, key=lambda numbered: numbered[1].section)
    ]
    takes = f", about {walk.minutes} minutes"
    return {"title": walk.title, "address": walk.address(1), "says": says, "takes": takes, "folded": folded}
