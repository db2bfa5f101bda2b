"""Which head links two words: all heads measured on one pair of tokens, the best of them a click away."""

from __future__ import annotations

from typing import Literal

import numpy as np
import streamlit as st

from tfmviz.analysis import attention_layer
from tfmviz.analysis.links import Links, links
from tfmviz.plots import links as figures
from tfmviz.record.trace import kind_of
from tfmviz.ui import controls, icons, lesson
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import said_of_queries, visible
from tfmviz.words.numbers import per_cent

Measure = Literal["attention", "effect"]

SHOWN = 5
"""Number of heads that get a button."""


def pair(here: Lesson) -> None:
    """Asks for two tokens and ranks all heads by what links them."""
    layer = here.choice.layer
    keys = here.trace.axes(layer)[1]
    query, key = here.query, here.key
    with lesson.line("pair"):
        lesson.pair_boxes(here)
        by: Measure = st.segmented_control(
            "Rank heads by", ("attention", "effect"), default="attention", key="by", bind="query-params", required=True
        )
    found = links(here.trace, here.model.weights, kind_of(layer), query, key)
    names = [
        markdown.plain(said_of_queries(here.trace, layer)[query]),
        f"“{markdown.plain(visible(keys.tokens[key]))}”",
    ]
    if np.isnan(found.weights).all():
        st.info(f"{names[0]} may not look at {names[1]}: the mask closes what comes later.", icon=icons.INFO)
        return
    _heads(here, found, by, names)


def _heads(here: Lesson, found: Links, by: Measure, names: list[str]) -> None:
    """The map of all heads, and buttons that lead to the best."""
    choice = here.choice
    values, draw = (found.weights, figures.weights) if by == "attention" else (found.effects, figures.effects)
    best = attention_layer.ranking(values)[:SHOWN]
    left, right = st.columns([3, 2])
    with left:
        show_cells(
            draw(values, chosen=(choice.layer_index, choice.head)),
            key="links",
            alt="; ".join(f"{name}: {_amounts(found, at)}" for name, at in _named(best)),
            click=controls.LOOKS,
            on_pick=lambda layer, head: controls.look_at(found.layers[layer], head),
        )
    with right:
        st.markdown(
            f"The heads that take most from {names[1]} to {names[0]}. *Attention* is the share that {names[0]} gives "
            f"to it. *Effect* is the length of what this look adds to the vector of {names[0]}, compared with that "
            "vector."
        )
        for rank, (name, (layer, head)) in enumerate(_named(best)):
            st.button(
                f"{name}: {_amounts(found, (layer, head))}",
                key=f"link_{rank}",
                on_click=controls.look_at,
                args=(found.layers[layer], head),
                type="primary" if (layer, head) == (choice.layer_index, choice.head) else "secondary",
                width="stretch",
            )


def _named(best: list[tuple[int, int, float]]) -> list[tuple[str, tuple[int, int]]]:
    return [(f"layer {layer}, head {head}", (layer, head)) for layer, head, _ in best]


def _amounts(found: Links, at: tuple[int, int]) -> str:
    return f"attention {found.weights[at]:.2f}, effect {per_cent(float(found.effects[at]))}"
