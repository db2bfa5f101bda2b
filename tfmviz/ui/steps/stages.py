"""The stages of one head, drawn in the browser."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls
from tfmviz.ui import sides as both
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.views import steps
from tfmviz.words import markdown

STAGE = re.compile(r"[a-z]{1,12}")

CELL = re.compile(r"[A-Za-z_]{0,12}(\.\d{1,4}){4}")


@shared
def payload(model: Model, text: str, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    """What the view in the browser gets."""
    here = Lesson(choice=Choice(model=model.name, layer=layer, head=head), text=text, model=model, edits=edits)
    return steps.payload(here.trace, layer, head, here.weights, here.positions, title=model.name)


def stages(here: Lesson) -> None:
    """The stages themselves, in the browser."""
    _draw(here, "steps", here.query)


def side_by_side(here: Lesson, there: Lesson) -> None:
    """The same stage of A and of B; the keys ← and → move both."""
    sides = both.of(here, there)
    st.markdown(both.said(sides))
    tokens = sides.query, sides.queries.partner(sides.query)
    columns = st.columns(2)
    for n, (lesson, token, key) in enumerate(zip((here, there), tokens, ("steps", "steps_b"), strict=True)):
        with columns[n]:
            st.markdown(f"**{markdown.plain(sides.titles[n])}**")
            _draw(lesson, key, lesson.query if token is None else token)


def _draw(here: Lesson, key: str, token: int) -> None:
    asked = {key: st.query_params.get(key, "") for key in ("stage", "at")}
    show_view(
        "steps",
        key=key,
        js=steps.JS,
        css=steps.CSS,
        data=payload(here.model, here.text, here.choice.layer, here.choice.head, here.edits),
        selection={
            "stage": asked["stage"] if STAGE.fullmatch(asked["stage"]) else "sentence",
            "at": asked["at"] if CELL.fullmatch(asked["at"]) else "",
            "token": min(token, len(here.trace.axes(here.choice.layer)[0]) - 1),
        },
        on_report=follow if key == "steps" else _ignore,
    )


def follow(report: dict[str, Any]) -> None:
    """Makes the address and the figures below follow what was chosen in the view."""
    parts = {"stage": (STAGE, str(report["stage"])), "at": (CELL, str(report["at"]))}
    controls.remember(int(report["token"]), {key: text for key, (form, text) in parts.items() if form.fullmatch(text)})


def _ignore(_report: dict[str, Any]) -> None:
    """What is chosen for the whole page is chosen in A."""
