"""The stages of one head, drawn in the browser."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from tfmviz.constants import ADDRESS_CELL, ADDRESS_STAGE
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls
from tfmviz.ui import sides as both
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import Link, result, show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.sides import Sides
from tfmviz.views import steps
from tfmviz.words import markdown

STAGE = re.compile(ADDRESS_STAGE)

CELL = re.compile(ADDRESS_CELL)

VIEWS = ("steps", "steps_b")
"""The keys of A and B."""


@shared
def payload(model: Model, text: str, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    """What the view in the browser gets."""
    here = Lesson(choice=Choice(model=model.name, layer=layer, head=head), text=text, model=model, edits=edits)
    return steps.payload(here.trace, layer, head, here.weights, here.positions, title=model.name)


def stages(here: Lesson) -> None:
    _draw(here, here.query, _asked("at", CELL))


def side_by_side(here: Lesson, there: Lesson) -> None:
    """The same stage of A and of B; what is chosen in one is chosen in both."""
    sides = both.of(here, there)
    result(both.said(sides))
    at = _asked("at", CELL)
    tokens, cells = (sides.query, sides.queries.partner(sides.query)), (at, _in_b(sides, at))
    for n, (column, lesson) in enumerate(zip(st.columns(2), (here, there), strict=True)):
        places = {"query": sides.queries.places(n), "key": sides.keys.places(n)}
        with column:
            st.markdown(f"**{markdown.plain(sides.titles[n])}**")
            link = Link(view=VIEWS[1 - n], places=places, follows=n == 1)
            _draw(lesson, tokens[n], cells[n], key=VIEWS[n], link=link)


def _in_b(sides: Sides, at: str) -> str:
    """The cell that is explained, with the key's position in B; "-" where that is missing."""
    if not at:
        return ""
    matrix, key, *others = at.split(".")
    partner = sides.keys.partner(int(key))
    return ".".join([matrix, "-" if partner is None else str(partner), *others])


def _asked(name: str, form: re.Pattern[str]) -> str:
    found = st.query_params.get(name, "")
    return found if form.fullmatch(found) else ""


def _draw(here: Lesson, token: int | None, at: str, *, key: str = VIEWS[0], link: Link | None = None) -> None:
    """Draws the stages. With a token of None the view keeps the one that it has."""
    show_view(
        "steps",
        key=key,
        js=steps.JS,
        css=steps.CSS,
        data=payload(here.model, here.text, here.choice.layer, here.choice.head, here.edits),
        selection={
            "stage": _asked("stage", STAGE) or "sentence",
            "at": at,
            "token": token,
        },
        on_report=follow,
        link=link,
    )


def follow(report: dict[str, Any]) -> None:
    """Makes the address and the figures below follow what was chosen in the view."""
    parts = {"stage": (STAGE, str(report["stage"])), "at": (CELL, str(report["at"]))}
    controls.remember(int(report["token"]), {key: text for key, (form, text) in parts.items() if form.fullmatch(text)})
