"""One head on A and on B, side by side; what differs; and which heads differ most."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.heads import allowed
from tfmviz.analysis.side_by_side import difference, distances
from tfmviz.plots import side_by_side as figures
from tfmviz.record.trace import Array, kind_of
from tfmviz.ui import controls
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.sides import Sides, key_names, most, of, said, show_likeness
from tfmviz.words.labels import of_queries
from tfmviz.words.numbers import per_cent

LEAST = 5e-5
"""A smaller share of attention is what rounding leaves."""

KEYS = A, B, DIFFERENCE = "side_a", "side_b", "side_difference"


def side_by_side(here: Lesson, there: Lesson) -> None:
    """The sentence that says what has changed, the three pictures of one head, and the map of all heads."""
    sides = of(here, there)
    st.markdown(f"{said(sides)} {_how(sides)}")
    left, middle, right = st.columns(3)
    with left:
        _one(sides, 0)
    with middle:
        _one(sides, 1)
    with right:
        _difference(sides)
    left, right = st.columns(2)
    if _have_same_heads(here, there):
        with left:
            _all_heads(sides)
    with right:
        show_likeness(sides)


def _how(sides: Sides) -> str:
    if any(None in place for place in (*sides.queries.order, *sides.keys.order)):
        return "A box marks a token that only one side has: B − A is grey there."
    return "Point at a cell to see it on both sides."


def _have_same_heads(here: Lesson, there: Lesson) -> bool:
    """Whether every head of A has one in the same place in B, and the pictures show such a pair."""
    a, b = here.choice, there.choice
    shapes = [(side.model.config.layers, side.model.config.n_heads) for side in (here, there)]
    return (a.layer, a.head) == (b.layer, b.head) and shapes[0] == shapes[1]


def _query_names(side: Lesson) -> list[str]:
    return of_queries(side.trace, side.choice.layer)


def _masked(side: Lesson) -> Array:
    """(q_len, k_len), NaN where the mask forbids the look."""
    layer = side.choice.layer
    return np.where(allowed(side.trace, layer), side.trace[f"{layer}.pattern"][side.choice.head], np.nan)


def _one(sides: Sides, number: figures.Side) -> None:
    """One side. A click on a cell of A chooses its two tokens."""

    def choose(row: int, column: int) -> None:
        controls.pin(row)
        controls.pin(column, "to")

    side, key = sides.lessons[number], KEYS[number]
    at = sides.queries.partner(sides.query), sides.keys.partner(sides.key)
    in_b = None if at[0] is None or at[1] is None else (at[0], at[1])
    rows = _query_names(side)
    found = (most(side, n) for n in range(len(rows)))
    looks = (f"“{row}”: “{key_names(side)[n]}” {share}" for row, (n, share) in zip(rows, found, strict=True))
    show_cells(
        figures.attention(
            _masked(side),
            rows=figures.axis("query", rows, sides.queries.order, number),
            columns=figures.axis("key", key_names(side), sides.keys.order, number),
            title=sides.titles[number],
            cell=in_b if number else (sides.query, sides.key),
        ),
        key=key,
        alt=f"{sides.titles[number]}: where each token looks most. {'; '.join(looks)}",
        click="" if number else "chooses its two tokens",
        on_pick=None if number else choose,
        linked=[other for other in KEYS if other != key],
    )


def _difference(sides: Sides) -> None:
    here, there = sides.lessons
    values = difference(_masked(here), _masked(there), sides.queries, sides.keys)
    ends = "" if np.isnan(values).all() else f", from {np.nanmin(values):+.2f} to {np.nanmax(values):+.2f}"
    show_cells(
        figures.difference(
            values,
            rows=figures.merged("query", (_query_names(here), _query_names(there)), sides.queries.order),
            columns=figures.merged("key", (key_names(here), key_names(there)), sides.keys.order),
            cell=(sides.queries.place(sides.query), sides.keys.place(sides.key)),
        ),
        key=DIFFERENCE,
        alt=f"B minus A for the tokens that both have{ends}.",
        linked=(A, B),
    )


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
        if share > LEAST
        else "Nothing differs: no head moves any of its attention."
    )
    show_cells(
        figures.changes(moved, chosen=(here.choice.layer_index, here.choice.head)),
        key="side_heads",
        alt="; ".join(f"layer {n}, head {m}: {per_cent(float(moved[n, m]))}" for n, m in first),
        click=controls.LOOKS,
        on_pick=lambda row, column: controls.look_at(layers[row], column),
    )
