"""A and B: the tokens that they share, where the chosen one looks, and how its vectors part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.analysis.predictions import top_predictions
from tfmviz.analysis.side_by_side import Pairing, difference, distances, likeness, pair_tokens, parting
from tfmviz.constants import LEAST_SHARE
from tfmviz.plots import side_by_side as figures
from tfmviz.record.trace import Array, kind_of
from tfmviz.ui import beside, controls, menu, models, named
from tfmviz.ui.boxes import marked, show_boxes
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson, line
from tfmviz.views.pieces import Piece, Row
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, quoted, said_of_queries, visible
from tfmviz.words.numbers import counted, decimal, per_cent

KEYS = A, B, DIFFERENCE = "side_a", "side_b", "side_difference"
"""Of the pictures of one head."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """A and B, and the tokens that they share.

    Attributes:
        lessons, titles: A's and B's.
        queries, keys: of the chosen layers.
        query, key: positions in A of the token that looks and of one that it looks at.
        blind: rows of B that may look at nothing: their softmax is 0/0, whatever the model then computes.
    """

    lessons: tuple[Lesson, Lesson]
    titles: tuple[str, str]
    queries: Pairing
    keys: Pairing
    query: int
    key: int
    blind: tuple[int, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether B is another run than A: before the first change there is nothing to compare."""
        return self.lessons[0] is not self.lessons[1]

    def about_the_same(self) -> tuple[Lesson, Lesson]:
        """A and B, each about the chosen token; B as it is where it has no such token."""
        here, there = self.lessons
        query, key, (of_a, of_b) = self.queries.partner(self.query), self.keys.partner(self.key), targets(self)
        first = here.about(self.query, self.key, of_a)
        if query is None:
            return first, there
        best = int(there.trace[f"{there.choice.layer}.pattern"][there.choice.head, query].argmax())
        return first, there.about(query, best if key is None else key, there.target if of_b is None else of_b)


def of(here: Lesson, there: Lesson, titles: tuple[str, str] | None = None) -> Sides:
    """Pairs the tokens. Until the reader chooses one, it is the usual one or, where its row is the same, the first
    whose row differs clearly: by half of what any does. A decoder's token before the first change sees nothing of it.

    Args:
        titles: where B is not what the reader compares with.
    """
    (queries_a, keys_a), (queries_b, keys_b) = (side.trace.axes(side.choice.layer) for side in (here, there))
    queries, keys = pair_tokens(queries_a, queries_b), pair_tokens(keys_a, keys_b)
    query, key = here.query, here.key
    if controls.pinned() is None and queries.pairs:
        a, b = (side.trace[f"{side.choice.layer}.pattern"][[side.choice.head]] for side in (here, there))
        moved = dict(zip((at for at, _ in queries.pairs), distances(a, b, queries, keys)[0], strict=True))
        most_moved = max(moved.values())
        if query not in moved or moved[query] <= LEAST_SHARE < most_moved:
            query = next(at for at in sorted(moved) if 2 * moved[at] >= most_moved)
            key = most(here, query)[0]
    named = titles or beside.titles(here, there)
    return Sides(lessons=(here, there), titles=named, queries=queries, keys=keys, query=query, key=key)


def side_by_side(sides: Sides, *, note: str = "", on_look: Callable[[], None] | None = None) -> None:
    """The sentence that says what has changed, the three pictures of one head, and the map of all heads.

    Args:
        note: in place of the sentence. An element of its own would come and go, and what stands below it would be
            built anew.
        on_look: called before a click on the map goes to a head.
    """
    result(note or f"{said(sides)} {how(sides)}")
    if is_too_early(sides):
        _offer_both_ways(sides)
    show_heads(sides)
    left, right = st.columns(2)
    if _have_same_heads(*sides.lessons):
        with left:
            _all_heads(sides, on_look)
    with right:
        show_likeness(sides)


BOTH_WAYS = "fill-in"
"""A model whose words see what follows them."""


def is_too_early(sides: Sides) -> bool:
    """Whether the chosen token stands before the first change, in a model whose tokens see only what is before them."""
    here, there = sides.lessons
    if here.model.name != there.model.name or here.edits != there.edits or not _looks_back(here):
        return False
    changes = parting(*(side.trace.axes(side.choice.layer)[0].tokens for side in sides.lessons))
    return changes is not None and sides.query < changes


def _looks_back(side: Lesson) -> bool:
    return side.choice.layer.startswith("decoder.") and side.choice.layer.endswith("self_attn")


def _offer_both_ways(sides: Sides) -> None:
    token = markdown.plain(query_name(sides))
    name = markdown.plain(named.name_of(BOTH_WAYS))
    with line("both-ways"):
        st.markdown(f"{token} comes before the first change, and this model reads from left to right.")
        if BOTH_WAYS in models.names():
            st.button(f"Read both ways: {name}", on_click=menu.pick, args=(BOTH_WAYS,), key="both_ways")


def show_rows(titles: Sequence[str], notes: Sequence[str], pieces: Sequence[Sequence[Piece]], what: str) -> None:
    """A's and B's text as two rows of boxes.

    Args:
        what: the boxes are.
    """
    rows = [Row(*row) for row in zip(titles, notes, pieces, strict=True)]
    show_boxes(rows, key="side_rows", caption="", titles=("side", "in all", what))


def show_texts(titles: Sequence[str], texts: Sequence[Sequence[str]], what: str) -> None:
    """What A and B write, as in `show_rows`, and where the two part."""
    at = parting(*texts)
    if at is None:
        st.markdown("Both write the same.")
    else:
        a, b = (f"“{markdown.plain(visible(text[at]))}”" for text in texts)
        st.markdown(f"They diverge at token {at + 1}: A writes {a}, B {b}.")
    show_rows(titles, [counted(len(text), "token") for text in texts], [marked(text, at) for text in texts], what)


def said(sides: Sides) -> str:
    """Where the chosen token looks in A, and where in B."""
    here, there = sides.lessons
    token = markdown.plain(said_of_queries(here.trace, here.choice.layer)[sides.query])
    token += "," if here.choice.layer.endswith("cross_attn") else ""  # “a”, about to write “red”, looks …
    (best_a, share_a) = most(here, sides.query)
    looks = f"{token} looks most at {_name(here, best_a)}"
    if (partner := sides.queries.partner(sides.query)) is None:
        return f"In A, {looks} ({share_a}). B has no such token."
    (best_b, share_b) = most(there, partner)
    if sides.keys.partner(best_a) == best_b:
        return f"{looks} on both sides: {share_a} in A, {share_b} in B."
    return f"{looks} ({share_a}) in A, but at {_name(there, best_b)} ({share_b}) in B."


def lacks(sides: Sides) -> str:
    """What to say where B lacks the chosen token."""
    return f"B has no token {markdown.plain(query_name(sides))}."


def show_likeness(sides: Sides) -> None:
    """How the vector of the chosen token parts from that of the same token in B; nothing where models differ."""
    here, there = sides.lessons
    at = sides.queries.partner(sides.query)
    if at is None or here.model.name != there.model.name:
        return
    cosines = likeness(here.trace, there.trace, stack_of(here), (sides.query, at))
    token = query_name(sides)
    st.markdown(
        f"The vector of {markdown.plain(token)} in A and B: cosine {decimal(float(cosines[0]))} before the first "
        f"layer, {decimal(float(cosines[-1]))} after the last."
    )
    show("side_likeness", figures.likeness(cosines, token=token, theme=theme()))


def most(side: Lesson, query: int) -> tuple[int, str]:
    """The key that a query gives most to, and how much of its attention that is."""
    row = side.trace[f"{side.choice.layer}.pattern"][side.choice.head, query]
    return int(row.argmax()), per_cent(float(row.max()))


def _name(side: Lesson, key: int) -> str:
    return markdown.plain(quoted(key_names(side))[key])


def key_names(side: Lesson) -> list[str]:
    return [visible(token) for token in side.trace.axes(side.choice.layer)[1].tokens]


def targets(sides: Sides) -> tuple[int, int | None]:
    """The chosen token of the texts that the models predict on: its position in A, and in B."""
    here, there = sides.lessons
    reads = here.trace.axes(here.choice.layer)[0]  # of a translator's encoder, another text
    token = sides.query if reads is here.trace.target else here.target
    return token, pair_tokens(here.trace.target, there.trace.target).partner(token)


def expected(sides: Sides) -> str:
    """The most probable word at the chosen token, in A and in B."""
    at = targets(sides)
    token = markdown.plain(quoted(sides.lessons[0].trace.tokens)[at[0]])
    found = [_expected(lesson, position) for lesson, position in zip(sides.lessons, at, strict=True)]
    where = "In the place of" if sides.lessons[0].model.config.architecture == "encoder-only" else "After"
    if not sides.differ:
        return f"{where} {token} the model expects “{found[0][0]}” ({found[0][1]})."
    if found[0][0] == found[1][0] != "":
        return f"{where} {token} both expect “{found[0][0]}”: {found[0][1]} in A, {found[1][1]} in B."
    if not found[1][0]:
        return f"{where} {token} A expects “{found[0][0]}” ({found[0][1]}). B has no such token."
    return f"{where} {token} A expects “{found[0][0]}” ({found[0][1]}), B “{found[1][0]}” ({found[1][1]})."


def _expected(side: Lesson, position: int | None) -> tuple[str, str]:
    """The most probable word and its probability; two empty texts where there is no such token."""
    if position is None:
        return "", ""
    (best,) = top_predictions(side.trace.row("logits", position), 1)
    return markdown.plain(visible(side.model.vocabulary[best.index])), per_cent(best.probability)


def stack_of(side: Lesson) -> str:
    """The stack whose stream the chosen layer reads."""
    return side.choice.layer.split(".")[0]


def query_name(sides: Sides) -> str:
    """The chosen token as sentences name it: “it”."""
    here = sides.lessons[0]
    return quoted(here.trace.axes(here.choice.layer)[0].tokens)[sides.query]


def how(sides: Sides) -> str:
    """How to read the pictures of `show_heads`."""
    if any(None in place for place in (*sides.queries.order, *sides.keys.order)):
        return "Boxed tokens occur on one side only; B − A is grey there."
    return "Hover over a cell to see it on both sides."


def show_heads(sides: Sides, *, is_narrow: bool = False) -> None:
    """The chosen head on A and on B, and what differs, in pictures that follow the pointer together."""
    if is_narrow:  # B, which the reader has made, is large enough to be read; the others stand below it
        _one(sides, 1)
    if not sides.differ:
        return
    left, *middle, right = st.columns(2 if is_narrow else 3)
    with left:
        _one(sides, 0, follows=is_narrow)
    if middle:
        with middle[0]:
            _one(sides, 1, follows=True)
    with right:
        _difference(sides)


def _one(sides: Sides, number: figures.Side, *, follows: bool = False) -> None:
    """One side. A click on a cell of A chooses its two tokens."""

    def choose(row: int, column: int) -> None:
        controls.pin(row)
        controls.pin(column, "to")

    side, key = sides.lessons[number], KEYS[number]
    at = sides.queries.partner(sides.query), sides.keys.partner(sides.key)
    in_b = None if at[0] is None or at[1] is None else (at[0], at[1])
    rows, columns = _query_names(side), key_names(side)
    show(
        key,
        figures.attention(
            _blinded(sides) if number else _masked(side),
            rows=figures.axis("query", rows, sides.queries.order, number),
            columns=figures.axis("key", columns, sides.keys.order, number),
            title=sides.titles[number],
            cell=in_b if number else (sides.query, sides.key),
            blind=sides.blind if number else (),
        ),
        click="" if number else "choose its two tokens",
        linked=[other for other in KEYS if other != key],
        follows=follows,
        on_pick=None if number else choose,
    )


def _difference(sides: Sides) -> None:
    here, there = sides.lessons
    values = difference(_masked(here), _blinded(sides), sides.queries, sides.keys)
    show(
        DIFFERENCE,
        figures.difference(
            values,
            rows=figures.merged("query", (_query_names(here), _query_names(there)), sides.queries.order),
            columns=figures.merged("key", (key_names(here), key_names(there)), sides.keys.order),
            cell=(sides.queries.place(sides.query), sides.keys.place(sides.key)),
        ),
        linked=(A, B),
    )


def _masked(side: Lesson) -> Array:
    """(q_len, k_len), NaN where the mask forbids the look. An edit may give each head its own mask."""
    layer, head = side.choice.layer, side.choice.head
    mask = side.trace[f"{layer}.mask"]
    return np.where(mask[head] if mask.ndim == 3 else mask, side.trace[f"{layer}.pattern"][head], np.nan)


def _blinded(sides: Sides) -> Array:
    """B's, NaN in blind rows too."""
    values = _masked(sides.lessons[1])
    values[list(sides.blind)] = np.nan
    return values


def _query_names(side: Lesson) -> list[str]:
    return of_queries(side.trace, side.choice.layer)


def _have_same_heads(here: Lesson, there: Lesson) -> bool:
    """Whether every head of A has one in the same place in B, and the pictures show such a pair."""
    a, b = here.choice, there.choice
    shapes = [(side.model.config.layers, side.model.config.attention.n_heads) for side in (here, there)]
    return (a.layer, a.head) == (b.layer, b.head) and shapes[0] == shapes[1]


def _all_heads(sides: Sides, on_look: Callable[[], None] | None) -> None:
    """The share of its attention that every head has moved; a click goes to the head."""
    here, there = sides.lessons
    layers = [layer for layer in here.model.config.layers if kind_of(layer) == kind_of(here.choice.layer)]
    if not sides.queries.pairs:
        st.markdown("The two have no token in common.")
        return
    patterns = [(here.trace[f"{layer}.pattern"], there.trace[f"{layer}.pattern"]) for layer in layers]
    moved = np.stack([distances(a, b, sides.queries, sides.keys).mean(axis=-1) for a, b in patterns])
    first = [divmod(int(n), moved.shape[1]) for n in np.argsort(-moved, axis=None, kind="stable")[:5]]
    (layer, head), share = first[0], float(moved[first[0]])
    st.markdown(
        f"The head that changes most is layer {layer}, head {head}: {per_cent(share)} of its attention moves."
        if share > LEAST_SHARE
        else "Nothing differs."
    )

    def look_at(row: int, column: int) -> None:
        if on_look:
            on_look()
        controls.look_at(layers[row], column)

    show(
        "side_heads",
        figures.changes(moved, chosen=(here.choice.layer_index, here.choice.head)),
        click=controls.LOOKS,
        on_pick=look_at,
    )
