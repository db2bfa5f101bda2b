"""The stages of one head, drawn in the browser."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from tfmviz.record.model import Model
from tfmviz.ui import controls
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.views import steps

STAGE = re.compile(r"[a-z]{1,12}")

CELL = re.compile(r"[A-Za-z_]{0,12}(\.\d{1,4}){4}")


@shared
def payload(model: Model, text: str, layer: str, head: int) -> bytes:
    """What the view in the browser gets."""
    here = Lesson(choice=Choice(model=model.name, layer=layer, head=head), text=text, model=model)
    return steps.payload(here.trace, layer, head, here.weights, here.positions, title=model.name)


def stages(here: Lesson) -> None:
    """The stages themselves, in the browser."""
    asked = {key: st.query_params.get(key, "") for key in ("stage", "at")}
    show_view(
        "steps",
        js=steps.JS,
        css=steps.CSS,
        data=payload(here.model, here.text, here.choice.layer, here.choice.head),
        selection={
            "stage": asked["stage"] if STAGE.fullmatch(asked["stage"]) else "sentence",
            "at": asked["at"] if CELL.fullmatch(asked["at"]) else "",
            "token": here.query,
        },
        on_report=follow,
    )


def follow(report: dict[str, Any]) -> None:
    """Makes the address and the figures below follow what was chosen in the view."""
    parts = {"stage": (STAGE, str(report["stage"])), "at": (CELL, str(report["at"]))}
    controls.remember(int(report["token"]), {key: text for key, (form, text) in parts.items() if form.fullmatch(text)})
