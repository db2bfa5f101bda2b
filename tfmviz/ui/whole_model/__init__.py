"""The whole model on one screen."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from tfmviz.analysis.whole_model import share_of_parts
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls, models, router, side, url, whole_model_data
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import Link, result, show, show_view
from tfmviz.ui.lesson import PageContext
from tfmviz.views import whole_model as view
from tfmviz.views.bars import Bars
from tfmviz.views.whole_model.scene import WholeModel, Zoom

VIEWS = ("whole_model", "whole_model_b")


def subject(model: Model, text: str, edits: tuple[Edit, ...] = ()) -> WholeModel:
    return whole_model_data.subject(model, models.trace(model, text, edits))


@cached_for_all
def payload(model: Model, text: str, zoom: Zoom, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    return view.payload(subject(model, text, edits), zoom, layer, head)


@cached_for_all
def summary_text(
    model: Model, text: str, zoom: Zoom, layer: str, token: int, edits: tuple[Edit, ...] = ()
) -> dict[str, list[Any]]:
    """The predictions at each column; see `whole_model_data.summary_text`."""
    return whole_model_data.summary_text(model, subject(model, text, edits), zoom, layer, token)


def picture(ctx: PageContext) -> None:
    token = None if side.lacks() else ctx.query
    zoom = whole_model_data.zoom_of(url.text("zoom"))
    choice = ctx.choice
    where, head = whole_model_data.place(zoom, choice.layer, choice.head)
    show_view(
        "whole_model",
        data=payload(ctx.model, ctx.text, zoom, where, head, ctx.edits),
        selection={
            "layer": choice.layer,
            "head": choice.head,
            "token": token,
            "says": {} if token is None else summary_text(ctx.model, ctx.text, zoom, where, token, ctx.edits),
            "address": {"model": ctx.model.name, "text": ctx.text},
            "kinds": ATTENTION_KINDS,
            "pages": {page.name: page.title for page in router.PAGES},
        },
        on_report=follow,
    )


def follow(report: dict[str, Any]) -> None:
    layer, zoom = str(report["layer"]), str(report["zoom"])
    if re.fullmatch(r"(encoder|decoder)\.[0-9]{1,3}\.(self|cross)_attn", layer):
        controls.look_at(layer, max(0, int(report["head"])))
    controls.remember(max(0, int(report["token"])), {"zoom": zoom if zoom in whole_model_data.ZOOMS[1:] else ""})


TWINS = {"post-norm": "twins-postnorm", "pre-norm": "twins-rope"}


def where_the_numbers_are(ctx: PageContext) -> None:
    weights = ctx.model.weights
    shares = share_of_parts(weights)
    largest = max(shares, key=lambda name: shares[name])
    result(f"{weights.n_parameters:,} parameters; **{largest}** has the most.")
    show("parameters", Bars(labels=list(shares), shares=[list(shares.values())]))


def norms(ctx: PageContext) -> None:
    found = {kind: model for kind, name in TWINS.items() if (model := models.needed(name)) is not None}
    if len(found) < len(TWINS):
        return
    traces = [models.trace(model, ctx.text) for model in found.values()]
    controls.say_what_was_cut(traces[0].target, "Both models read")
    layer = min(ctx.choice.layer_index, *(model.config.n_layers - 1 for model in found.values()))
    attention = f"decoder.{layer}.self_attn"
    token = controls.token(traces[0].tokens, text=ctx.text)
    keys = [f"block_{kind.replace('-', '_')}" for kind in found]
    places = {"decoder": list(range(len(traces[0].tokens)))}  # both have one tokenizer
    for n, (column, (kind, model)) in enumerate(zip(st.columns(2), found.items(), strict=True)):
        with column:
            show_view(
                "whole_model",
                key=keys[n],
                data=_block(model, ctx.text, attention, f"{kind.capitalize()}, layer {layer} of {model.name}"),
                selection={"layer": attention, "head": 0, "token": token, "says": {}},
                on_report=lambda report: controls.pin(max(0, int(report["token"]))),
                link=Link(view=keys[1 - n], places=places, follows=n == 1),
            )


@cached_for_all
def _block(model: Model, text: str, layer: str, title: str) -> bytes:
    return view.payload(subject(model, text), "block", layer, 0, beside=title)
