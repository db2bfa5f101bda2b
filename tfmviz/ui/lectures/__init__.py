"""The lectures' page: all walks with all their steps."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from tfmviz.ui import icons, lecture_steps
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.lecture_steps import Lecture
from tfmviz.views import lectures as view
from tfmviz.words import markdown

SIGNS = 3
"""Steps of a lecture shown before it is opened."""


def overview() -> None:
    """Every lecture as a card that begins it, with links to its steps."""
    found, problems = lecture_steps.walks()
    for problem in problems:
        st.warning(markdown.plain(problem), icon=icons.WARNING)
    data = view.payload({"": [_card(walk) for walk in found.values()]}, of="steps", opens="Start")
    show_plain_view("lectures", data=data)


def _card(walk: Lecture) -> view.Entry:
    steps = list(enumerate(walk.steps, start=1))
    asking = sorted(steps, key=lambda numbered: "?" not in numbered[1].say)
    first = {step.page: n for n, step in reversed(asking)}
    chosen = sorted(list(dict.fromkeys([*reversed(first.values()), *(n for n, _ in asking)]))[:SIGNS])
    links = {n: (step.say, walk.address(n)) for n, step in steps}
    folded = [(name, [links[n] for n, _ in found]) for name, found in groupby(steps, key=lambda one: one[1].section)]
    return {
        "title": walk.title,
        "address": walk.address(1),
        "says": [asking[0][1].say],
        "takes": f", about {walk.minutes} minutes",
        "shows": [(walk.steps[n - 1].page, links[n]) for n in chosen],
        "folded": folded,
    }
