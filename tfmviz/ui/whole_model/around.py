"""Below the picture: where the parameters are, and a post-norm block beside a pre-norm block."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.whole_model import share_of_parts
from tfmviz.record.model import Model
from tfmviz.ui import controls, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import Link, result, show, show_view
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.whole_model.picture import subject
from tfmviz.views import whole_model as view
from tfmviz.views.bars import Bars

TWINS = {"post-norm": "twins-postnorm", "pre-norm": "twins-rope"}
"""Two shipped models that differ in nothing but where their norms stand."""


def where_the_numbers_are(here: Lesson) -> None:
    """How many of the parameters each kind of part holds."""
    weights = here.model.weights
    shares = share_of_parts(weights)
    largest = max(shares, key=lambda name: shares[name])
    result(f"{weights.n_parameters:,} parameters, more of them in **{largest}** than in any other part.")
    show("parameters", Bars(labels=list(shares), shares=[list(shares.values())]))


def norms(here: Lesson) -> None:
    """The same layer of two models that were trained identically."""
    pair = {kind: models.needed(name) for kind, name in TWINS.items()}
    if None in pair.values():
        return
    found = {kind: model for kind, model in pair.items() if model is not None}
    traces = [models.trace(model, here.text) for model in found.values()]
    controls.say_what_was_cut(traces[0].target, "Both models read")
    layer = min(here.choice.layer_index, *(model.config.n_layers - 1 for model in found.values()))
    attention = f"decoder.{layer}.self_attn"
    token = controls.token(traces[0].tokens, text=here.text)
    keys = [f"block_{kind.replace('-', '_')}" for kind in found]
    places = {"decoder": list(range(len(traces[0].tokens)))}  # both have one tokenizer
    for n, (column, (kind, model)) in enumerate(zip(st.columns(2), found.items(), strict=True)):
        with column:
            show_view(
                "whole_model",
                key=keys[n],
                js=view.JS,
                css=view.CSS,
                data=_block(model, here.text, attention, f"{kind.capitalize()}, layer {layer} of {model.name}"),
                selection={"layer": attention, "head": 0, "token": token, "says": {}},
                on_report=lambda report: controls.pin(max(0, int(report["token"]))),
                link=Link(view=keys[1 - n], places=places, follows=n == 1),
            )


@shared
def _block(model: Model, text: str, layer: str, title: str) -> bytes:
    return view.payload(subject(model, text), "block", layer, 0, beside=title)
