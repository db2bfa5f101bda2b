"""The picture of the chosen model on the reader's sentence, and what the followed token becomes layer by layer."""

from __future__ import annotations

import re
from typing import Any, get_args

import streamlit as st

from tfmviz.analysis import lens
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls, models, router
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import KINDS
from tfmviz.ui.figures import Link, show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.views import whole_model as view
from tfmviz.views.whole_model.scene import Subject, Zoom
from tfmviz.words.labels import visible

ZOOMS: tuple[Zoom, ...] = get_args(Zoom)

VIEWS = ("whole_model", "whole_model_b")
"""The keys of A and B."""


def subject(model: Model, text: str, edits: tuple[Edit, ...] = ()) -> Subject:
    """What the view draws: the model's run, its matrices, what its positions do."""
    trace, weights = models.trace(model, text, edits), model.weights
    texts = {stack: trace.source if stack == "encoder" and trace.source else trace.target for stack in weights.stacks}
    return Subject(
        title=model.name,
        trace=trace,
        weights=weights,
        effects={stack: model.position_effects(stack, len(text)) for stack, text in texts.items()},
        vocabulary=model.vocabulary,
    )


@shared
def payload(model: Model, text: str, zoom: Zoom, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    """What the view in the browser gets."""
    return view.payload(subject(model, text, edits), zoom, layer, head)


@shared
def said(
    model: Model, text: str, zoom: Zoom, layer: str, token: int, edits: tuple[Edit, ...] = ()
) -> dict[str, list[Any]]:
    """Per column of the picture the most probable word if the model stopped there, its probability, the answer's rank.

    Empty where nothing can be read out: at one head, and in an encoder that feeds a decoder.
    """
    about = subject(model, text, edits)
    sites = view.read_at(about, zoom, layer)
    if not sites:
        return {}
    readout = about.weights.stacks[model.writes_from].readout
    found = lens.read_token(about.trace, list(sites.values()), readout, token)
    return {
        column: [
            visible(model.vocabulary[found.top[stage, 0]]),
            float(found.top_probability[stage, 0]),
            int(found.answer_rank[stage, 0]),
        ]
        for stage, column in enumerate(sites)
    }


def picture(here: Lesson) -> None:
    """The picture itself, in the browser."""
    draw(here, here.query)


def draw(here: Lesson, token: int | None, *, key: str = VIEWS[0], link: Link | None = None) -> None:
    """Draws the picture.

    Args:
        token: that is followed; None: the one that the view follows already.
        key: where the page has two.
    """
    asked = st.query_params.get("zoom", "")
    zoom: Zoom = next((zoom for zoom in ZOOMS if zoom == asked), "model")
    choice = here.choice
    where = choice.layer if zoom != "model" else f"{choice.layer.split('.')[0]}.0.self_attn"
    show_view(
        "whole_model",
        key=key,
        js=view.JS,
        css=view.CSS,
        data=payload(here.model, here.text, zoom, where, choice.head if zoom == "head" else 0, here.edits),
        selection={
            "layer": choice.layer,
            "head": choice.head,
            "token": token,
            "says": {} if token is None else said(here.model, here.text, zoom, where, token, here.edits),
            "address": {"model": here.model.name, "text": here.text},
            "kinds": KINDS,
            "pages": {page.name: page.title for page in router.PAGES},
        },
        on_report=follow,
        link=link,
    )


def follow(report: dict[str, Any]) -> None:
    """Makes sidebar and address follow what was chosen in the view."""
    layer, zoom = str(report["layer"]), str(report["zoom"])
    if re.fullmatch(r"(encoder|decoder)\.[0-9]{1,3}\.(self|cross)_attn", layer):
        controls.look_at(layer, max(0, int(report["head"])))
    controls.remember(max(0, int(report["token"])), {"zoom": zoom if zoom in ZOOMS[1:] else ""})
