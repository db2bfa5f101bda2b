"""One head on A and on B, side by side; what differs; and which heads differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.analysis.heads import allowed
from tfmviz.analysis.side_by_side import Pairing, difference, distances, likeness, pair_tokens
from tfmviz.plots import side_by_side as figures
from tfmviz.record.trace import Array, kind_of
from tfmviz.ui import beside, controls
from tfmviz.ui.figures import show, show_cells, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, said_of_queries, visible
from tfmviz.words.numbers import decimal, per_cent

KEYS = A, B, DIFFERENCE = "side_a", "side_b", "side_difference"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """A and B, and the tokens that they share.

    Attributes:
        lessons, titles: A's and B's.
        queries, keys: of the chosen layers.
        query, key: positions in A of the token that looks and of one that it looks at.
    """

    lessons: tuple[Lesson, Lesson]
    titles: tuple[str, str]
    queries: Pairing
    keys: Pairing
    query: int
    key: int


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
    if here.model.name == there.model.name and sides.queries.partner(sides.query) is not None:
        with right:
            _likeness(sides)


def of(here: Lesson, there: Lesson) -> Sides:
    """Pairs the tokens. Until the reader chooses one that both have, it is the one whose row differs most."""
    (queries_a, keys_a), (queries_b, keys_b) = (side.trace.axes(side.choice.layer) for side in (here, there))
    queries, keys = pair_tokens(queries_a, queries_b), pair_tokens(keys_a, keys_b)
    query, key = here.query, here.key
    if controls.pinned() is None and queries.partner(query) is None and queries.pairs:
        a, b = (side.trace[f"{side.choice.layer}.pattern"][[side.choice.head]] for side in (here, there))
        query = queries.pairs[int(distances(a, b, queries, keys)[0].argmax())][0]
        key = _most(here, query)[0]
    return Sides(
        lessons=(here, there), titles=beside.titles(here, there), queries=queries, keys=keys, query=query, key=key
    )


def said(sides: Sides) -> str:
    """Where the chosen token looks in A, and where in B."""
    here, there = sides.lessons
    token = markdown.plain(said_of_queries(here.trace, here.choice.layer)[sides.query])
    (best_a, share_a) = _most(here, sides.query)
    looks = f"{token} looks most at {_name(here, best_a)}"
    if (partner := sides.queries.partner(sides.query)) is None:
        return f"In A, {looks} ({share_a}). B has no such token."
    (best_b, share_b) = _most(there, partner)
    if sides.keys.partner(best_a) == best_b:
        return f"{looks} on both sides: {share_a} in A, {share_b} in B."
    return f"{looks} ({share_a}) in A, but at {_name(there, best_b)} ({share_b}) in B."


def _how(sides: Sides) -> str:
    if any(None in place for place in (*sides.queries.order, *sides.keys.order)):
        return "A box marks a token that only one side has: B − A is grey there."
    return "Point at a cell to see it on both sides."


def _have_same_heads(here: Lesson, there: Lesson) -> bool:
    """Whether every head of A has one in the same place in B, and the pictures show such a pair."""
    a, b = here.choice, there.choice
    shapes = [(side.model.config.layers, side.model.config.n_heads) for side in (here, there)]
    return (a.layer, a.head) == (b.layer, b.head) and shapes[0] == shapes[1]


def _most(side: Lesson, query: int) -> tuple[int, str]:
    """The key that a query gives most to, and how much of its attention that is."""
    row = side.trace[f"{side.choice.layer}.pattern"][side.choice.head, query]
    return int(row.argmax()), per_cent(float(row.max()))


def _name(side: Lesson, key: int) -> str:
    return f"“{markdown.plain(_key_names(side)[key])}”"


def _key_names(side: Lesson) -> list[str]:
    return [visible(token) for token in side.trace.axes(side.choice.layer)[1].tokens]


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
    most = (_most(side, n) for n in range(len(rows)))
    looks = (f"“{row}”: “{_key_names(side)[n]}” {share}" for row, (n, share) in zip(rows, most, strict=True))
    show_cells(
        figures.attention(
            _masked(side),
            rows=figures.axis("query", rows, sides.queries.order, number),
            columns=figures.axis("key", _key_names(side), sides.keys.order, number),
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
            columns=figures.merged("key", (_key_names(here), _key_names(there)), sides.keys.order),
            cell=(sides.queries.place(sides.query), sides.keys.place(sides.key)),
        ),
        key=DIFFERENCE,
        alt=f"B minus A for the tokens that both have{ends}.",
        linked=(A, B),
    )


def _likeness(sides: Sides) -> None:
    """How the vector of the chosen token parts from that of the same token in B, layer by layer."""
    here, there = sides.lessons
    at = sides.queries.partner(sides.query)
    assert at is not None
    crosses = here.choice.layer.endswith("cross_attn")
    stack = "decoder" if crosses else here.choice.layer.split(".")[0]
    cosines = likeness(here.trace, there.trace, stack, (sides.query, at))
    token = visible(here.trace.axes(here.choice.layer)[0].tokens[sides.query])
    st.markdown(
        f"The vector of “{markdown.plain(token)}” in A and B: cosine {decimal(float(cosines[0]))} before the first "
        f"layer, {decimal(float(cosines[-1]))} after the last."
    )
    numbers = ", ".join(decimal(float(cosine)) for cosine in cosines)
    show(figures.likeness(cosines, token=token, theme=theme()), key="side_likeness", alt=f"Cosines: {numbers}")


def _all_heads(sides: Sides) -> None:
    """The share of its attention that every head has moved; a click goes to the head."""
    here, there = sides.lessons
    layers = [layer for layer in here.model.config.layers if kind_of(layer) == kind_of(here.choice.layer)]
    if not sides.queries.pairs:
        st.markdown("The two have no token in common, so their heads cannot be compared.")
        return
    patterns = [(here.trace[f"{layer}.pattern"], there.trace[f"{layer}.pattern"]) for layer in layers]
    moved = np.stack([distances(a, b, sides.queries, sides.keys).mean(axis=-1) for a, b in patterns])
    most = [divmod(int(n), moved.shape[1]) for n in np.argsort(-moved, axis=None, kind="stable")[:5]]
    (layer, head), share = most[0], float(moved[most[0]])
    st.markdown(
        f"The head that changes most is layer {layer}, head {head}: {per_cent(share)} of its attention goes to other "
        "tokens."
        if share > 0
        else "Nothing differs: no head moves any of its attention."
    )
    show_cells(
        figures.changes(moved, chosen=(here.choice.layer_index, here.choice.head)),
        key="side_heads",
        alt="; ".join(f"layer {n}, head {m}: {per_cent(float(moved[n, m]))}" for n, m in most),
        click=controls.LOOKS,
        on_pick=lambda row, column: controls.look_at(layers[row], column),
    )
