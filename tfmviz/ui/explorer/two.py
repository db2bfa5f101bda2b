"""One head on A and on B, side by side; what differs; and which heads differ most."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.side_by_side import distances
from tfmviz.plots import side_by_side as figures
from tfmviz.record.trace import kind_of
from tfmviz.ui import controls
from tfmviz.ui import sides as both
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.sides import Sides
from tfmviz.words.numbers import per_cent


def side_by_side(here: Lesson, there: Lesson) -> None:
    """The sentence that says what has changed, the three pictures of one head, and the map of all heads."""
    sides = both.of(here, there)
    st.markdown(f"{both.said(sides)} {both.how(sides)}")
    both.show_heads(sides)
    left, right = st.columns(2)
    if _have_same_heads(here, there):
        with left:
            _all_heads(sides)
    with right:
        both.show_likeness(sides)


def _have_same_heads(here: Lesson, there: Lesson) -> bool:
    """Whether every head of A has one in the same place in B, and the pictures show such a pair."""
    a, b = here.choice, there.choice
    shapes = [(side.model.config.layers, side.model.config.n_heads) for side in (here, there)]
    return (a.layer, a.head) == (b.layer, b.head) and shapes[0] == shapes[1]


def _all_heads(sides: Sides) -> None:
    """The share of its attention that every head has moved; a click goes to the head."""
    here, there = sides.lessons
    layers = [layer for layer in here.model.config.layers if kind_of(layer) == kind_of(here.choice.layer)]
    if not sides.queries.pairs:
        st.markdown("The two have no token in common, so their heads cannot be compared.")
        return
    patterns = [(here.trace[f"{layer}.pattern"], there.trace[f"{layer}.pattern"]) for layer in layers]
    moved = np.stack([distances(a, b, sides.queries, sides.keys).mean(axis=-1) for a, b in patterns])
    first = [divmod(int(n), moved.shape[1]) for n in np.argsort(-moved, axis=None, kind="stable")[:5]]
    (layer, head), share = first[0], float(moved[first[0]])
    st.markdown(
        f"The head that changes most is layer {layer}, head {head}: {per_cent(share)} of its attention goes to other "
        "tokens."
        if share > both.LEAST
        else "Nothing differs: no head moves any of its attention."
    )
    show_cells(
        figures.changes(moved, chosen=(here.choice.layer_index, here.choice.head)),
        key="side_heads",
        alt="; ".join(f"layer {n}, head {m}: {per_cent(float(moved[n, m]))}" for n, m in first),
        click=controls.LOOKS,
        on_pick=lambda row, column: controls.look_at(layers[row], column),
    )
