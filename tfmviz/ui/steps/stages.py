"""The stages of one head, drawn in the browser."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from tfmviz.constants import ADDRESS_CELL, ADDRESS_STAGE
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls, side
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.views import steps

STAGE = re.compile(ADDRESS_STAGE)

CELL = re.compile(ADDRESS_CELL)


@shared
def payload(model: Model, text: str, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    """What the view in the browser gets."""
    here = Lesson(choice=Choice(model=model.name, layer=layer, head=head), text=text, model=model, edits=edits)
    return steps.payload(here.trace, layer, head, here.weights, here.positions, title=model.name)


def stages(here: Lesson) -> None:
    show_view(
        "steps",
        js=steps.JS,
        css=steps.CSS,
        data=payload(here.model, here.text, here.choice.layer, here.choice.head, here.edits),
        selection={
            "stage": _asked("stage", STAGE) or "sentence",
            "at": _explained(_asked("at", CELL)),
            "token": None if side.lacks() else here.query,
        },
        on_report=follow,
    )


def _explained(at: str) -> str:
    """The cell that is explained; on side B with the key's position there, "-" where that is missing."""
    if not at:
        return at
    matrix, key, *others = at.split(".")
    partner = side.partner("to", int(key))
    return ".".join([matrix, "-" if partner is None else str(partner), *others])


def _asked(name: str, form: re.Pattern[str]) -> str:
    found = st.query_params.get(name, "")
    return found if form.fullmatch(found) else ""


def follow(report: dict[str, Any]) -> None:
    """Makes the address and the figures below follow what was chosen in the view."""
    parts = {"stage": (STAGE, str(report["stage"])), "at": (CELL, str(report["at"]))}
    controls.remember(int(report["token"]), {key: text for key, (form, text) in parts.items() if form.fullmatch(text)})
