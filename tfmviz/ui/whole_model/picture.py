"""The picture of the chosen model on the reader's sentence, and what the followed token becomes layer by layer."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from tfmviz.constants import ATTENTION_KINDS
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls, models, router, scenes, side
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.views import whole_model as view
from tfmviz.views.whole_model.scene import Subject, Zoom

VIEWS = ("whole_model", "whole_model_b")
"""The keys of A and B."""


def subject(model: Model, text: str, edits: tuple[Edit, ...] = ()) -> Subject:
    """What the view draws: the model's run, its matrices, what its positions do."""
    return scenes.subject(model, models.trace(model, text, edits))


@shared
def payload(model: Model, text: str, zoom: Zoom, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    """What the view in the browser gets."""
    return view.payload(subject(model, text, edits), zoom, layer, head)


@shared
def said(
    model: Model, text: str, zoom: Zoom, layer: str, token: int, edits: tuple[Edit, ...] = ()
) -> dict[str, list[Any]]:
    """What the model would say at each column; see `scenes.said`."""
    return scenes.said(model, subject(model, text, edits), zoom, layer, token)


def picture(here: Lesson) -> None:
    """The picture itself, in the browser."""
    token = None if side.lacks() else here.query
    zoom = scenes.zoom_of(st.query_params.get("zoom", ""))
    choice = here.choice
    where, head = scenes.place(zoom, choice.layer, choice.head)
    show_view(
        "whole_model",
        js=view.JS,
        css=view.CSS,
        data=payload(here.model, here.text, zoom, where, head, here.edits),
        selection={
            "layer": choice.layer,
            "head": choice.head,
            "token": token,
            "says": {} if token is None else said(here.model, here.text, zoom, where, token, here.edits),
            "address": {"model": here.model.name, "text": here.text},
            "kinds": ATTENTION_KINDS,
            "pages": {page.name: page.title for page in router.PAGES},
        },
        on_report=follow,
    )


def follow(report: dict[str, Any]) -> None:
    """Makes choices and address follow what was chosen in the view."""
    layer, zoom = str(report["layer"]), str(report["zoom"])
    if re.fullmatch(r"(encoder|decoder)\.[0-9]{1,3}\.(self|cross)_attn", layer):
        controls.look_at(layer, max(0, int(report["head"])))
    controls.remember(max(0, int(report["token"])), {"zoom": zoom if zoom in scenes.ZOOMS[1:] else ""})
