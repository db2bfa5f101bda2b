"""A and B: their common tokens, the chosen token's attention, and the divergence of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import streamlit as st

from tfmviz.analysis.predictions import top_predictions
from tfmviz.analysis.side_by_side import Pairing, distances, likeness, pair_tokens, parting
from tfmviz.constants import LEAST_SHARE
from tfmviz.plots import side_by_side as figures
from tfmviz.plots.cells import Axis, Cells, HeadPair, ValueFormat, share
from tfmviz.record.trace import kind_of
from tfmviz.ui import before_after, compare_menu, controls, menu, model_names, models
from tfmviz.ui.boxes import marked, show_boxes
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import PageContext, control_row
from tfmviz.views.pieces import Piece, Row
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, quoted, said_of_queries, visible
from tfmviz.words.numbers import counted, decimal, per_cent

KEYS = A, B, DIFFERENCE = "side_a", "side_b", "side_difference"
"""Of the pictures of one head."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadComparison:
    """A and B, and their common tokens.

    Attributes:
        lessons, titles: A's and B's.
        queries, keys: of the chosen layers.
        query, key: positions in A.
        blind: rows of B without an open key: their softmax is 0/0, whatever the model then computes.
    """

    lessons: tuple[PageContext, PageContext]
    titles: tuple[str, str]
    queries: Pairing
    keys: Pairing
    query: int
    key: int
    blind: tuple[int, ...] = ()

    @property
    def differ(self) -> bool:
        """B is another run than A: before the first change there is nothing to compare."""
        return self.lessons[0] is not self.lessons[1]

    def about_the_same(self) -> tuple[PageContext, PageContext]:
        """A and B about the chosen token; B unchanged where it has no such token."""
        ctx, ctx_b = self.lessons
        query, key, (of_a, of_b) = self.queries.partner(self.query), self.keys.partner(self.key), targets(self)
        first = ctx.about(self.query, self.key, of_a)
        if query is None:
            return first, ctx_b
        best = int(ctx_b.trace[f"{ctx_b.choice.layer}.pattern"][ctx_b.choice.head, query].argmax())
        return first, ctx_b.about(query, best if key is None else key, ctx_b.target if of_b is None else of_b)


def compare(ctx: PageContext, ctx_b: PageContext, titles: tuple[str, str] | None = None) -> HeadComparison:
    """Pairs the tokens. The default token is the usual one or, where its row is the same, the first whose row differs
    clearly: by half of the maximum. A decoder's token before the first change sees nothing of it.
    """
    (queries_a, keys_a), (queries_b, keys_b) = (side.trace.axes(side.choice.layer) for side in (ctx, ctx_b))
    queries, keys = pair_tokens(queries_a, queries_b), pair_tokens(keys_a, keys_b)
    query, key = ctx.query, ctx.key
    if controls.pinned() is None and queries.pairs:
        a, b = (side.trace[f"{side.choice.layer}.pattern"][[side.choice.head]] for side in (ctx, ctx_b))
        moved = dict(zip((at for at, _ in queries.pairs), distances(a, b, queries, keys)[0], strict=True))
        most_moved = max(moved.values())
        if query not in moved or moved[query] <= LEAST_SHARE < most_moved:
            query = next(at for at in sorted(moved) if 2 * moved[at] >= most_moved)
            key = most(ctx, query)[0]
    named = titles or compare_menu.titles(ctx, ctx_b)
    return HeadComparison(lessons=(ctx, ctx_b), titles=named, queries=queries, keys=keys, query=query, key=key)


def side_by_side(sides: HeadComparison, *, note: str = "", on_look: Callable[[], None] | None = None) -> None:
    """A sentence on the change, the three pictures of one head, and the map of all heads; before a change, A's head.

    Args:
        note: in place of the sentence. A separate element would come and go, and everything below it would be rebuilt.
        on_look: called before a click on the map goes to a head.
    """
    result(note or f"{summary_text(sides)} {how(sides)}")
    if not sides.differ:
        _one(sides, 0)
        return
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
"""A bidirectional model."""


def is_too_early(sides: HeadComparison) -> bool:
    """The chosen token comes before the first change, in a model whose tokens see only the past."""
    ctx, ctx_b = sides.lessons
    stack, _, part = ctx.choice.layer.split(".")
    if ctx.model.name != ctx_b.model.name or ctx.edits != ctx_b.edits or (stack, part) != ("decoder", "self_attn"):
        return False
    changes = parting(*(side.trace.axes(side.choice.layer)[0].tokens for side in sides.lessons))
    return changes is not None and sides.query < changes


def _offer_both_ways(sides: HeadComparison) -> None:
    token = markdown.plain(query_name(sides))
    name = markdown.plain(model_names.name_of(BOTH_WAYS))
    with control_row("both-ways"):
        st.markdown(f"{token} comes before the first change, and this model reads from left to right.")
        if BOTH_WAYS in models.names():
            st.button(f"Read both ways: {name}", on_click=menu.pick, args=(BOTH_WAYS,), key="both_ways")


def show_rows(titles: Sequence[str], notes: Sequence[str], pieces: Sequence[Sequence[Piece]], what: str) -> None:
    """A's and B's text as boxes; `what`: "tokens"."""
    rows = [Row(*row) for row in zip(titles, notes, pieces, strict=True)]
    show_boxes(rows, key="side_rows", caption="", titles=("side", "in all", what))


def show_texts(titles: Sequence[str], texts: Sequence[Sequence[str]], what: str) -> None:
    """A's and B's output, and where the two diverge."""
    at = parting(*texts)
    if at is None:
        st.markdown("Both write the same.")
    else:
        a, b = (f"“{markdown.plain(visible(text[at]))}”" for text in texts)
        st.markdown(f"They diverge at token {at + 1}: A writes {a}, B {b}.")
    show_rows(titles, [counted(len(text), "token") for text in texts], [marked(text, at) for text in texts], what)


def summary_text(sides: HeadComparison) -> str:
    ctx, ctx_b = sides.lessons
    token = markdown.plain(said_of_queries(ctx.trace, ctx.choice.layer)[sides.query])
    token += "," if ctx.choice.layer.endswith("cross_attn") else ""  # “a”, about to write “red”, looks …
    (best_a, share_a) = most(ctx, sides.query)
    looks = f"{token} looks most at {_name(ctx, best_a)}"
    if (partner := sides.queries.partner(sides.query)) is None:
        return f"In A, {looks} ({share_a}). B has no such token."
    (best_b, share_b) = most(ctx_b, partner)
    if sides.keys.partner(best_a) == best_b:
        return f"{looks} on both sides: {share_a} in A, {share_b} in B."
    return f"{looks} ({share_a}) in A, but at {_name(ctx_b, best_b)} ({share_b}) in B."


def lacks(sides: HeadComparison) -> str:
    return f"B has no token {markdown.plain(query_name(sides))}."


def show_likeness(sides: HeadComparison) -> None:
    """Nothing where models differ."""
    ctx, ctx_b = sides.lessons
    at = sides.queries.partner(sides.query)
    if at is None or ctx.model.name != ctx_b.model.name:
        return
    cosines = likeness(ctx.trace, ctx_b.trace, stack_of(ctx), (sides.query, at))
    token = query_name(sides)
    st.markdown(
        f"The vector of {markdown.plain(token)} in A and B: cosine {decimal(float(cosines[0]))} before the first "
        f"layer, {decimal(float(cosines[-1]))} after the last."
    )
    show("side_likeness", figures.likeness(cosines, token=token, theme=theme()))


def most(side: PageContext, query: int) -> tuple[int, str]:
    """The key with a query's largest weight, and that weight."""
    row = side.trace[f"{side.choice.layer}.pattern"][side.choice.head, query]
    return int(row.argmax()), per_cent(float(row.max()))


def _name(side: PageContext, key: int) -> str:
    return markdown.plain(quoted(key_names(side))[key])


def key_names(side: PageContext) -> list[str]:
    return [visible(token) for token in side.trace.axes(side.choice.layer)[1].tokens]


def targets(sides: HeadComparison) -> tuple[int, int | None]:
    """The chosen token's position in A's and in B's text that the model predicts on."""
    ctx, ctx_b = sides.lessons
    reads = ctx.trace.axes(ctx.choice.layer)[0]  # of a translator's encoder, another text
    token = sides.query if reads is ctx.trace.target else ctx.target
    return token, pair_tokens(ctx.trace.target, ctx_b.trace.target).partner(token)


def expected(sides: HeadComparison) -> str:
    (ctx, ctx_b), (at, at_b) = sides.lessons, targets(sides)
    (word, share), (word_b, share_b) = _expected(ctx, at), _expected(ctx_b, at_b)
    where = f"{before_after.place(ctx)} {markdown.plain(quoted(ctx.trace.tokens)[at])}"
    if not sides.differ:
        return f"{where} the model expects “{word}” ({share})."
    if at_b is None:
        return f"{where} A expects “{word}” ({share}). B has no such token."
    if word == word_b:
        return f"{where} both expect “{word}”: {share} in A, {share_b} in B."
    return f"{where} A expects “{word}” ({share}), B “{word_b}” ({share_b})."


def _expected(side: PageContext, position: int | None) -> tuple[str, str]:
    """The most probable word and its probability; two empty texts where there is no such token."""
    if position is None:
        return "", ""
    (best,) = top_predictions(side.trace.row("logits", position), 1)
    return markdown.plain(visible(side.model.vocabulary[best.index])), per_cent(best.probability)


def stack_of(side: PageContext) -> str:
    """The stack whose stream the chosen layer reads."""
    return side.choice.layer.split(".")[0]


def query_name(sides: HeadComparison) -> str:
    """The chosen token in a sentence: “it”."""
    ctx = sides.lessons[0]
    return quoted(ctx.trace.axes(ctx.choice.layer)[0].tokens)[sides.query]


def how(sides: HeadComparison) -> str:
    if any(None in place for place in (*sides.queries.order, *sides.keys.order)):
        return "Boxed tokens occur on one side only; B − A is grey there."
    return "Hover over a cell to see it on both sides."


def show_heads(sides: HeadComparison, *, is_narrow: bool = False) -> None:
    if is_narrow:  # B, the reader's choice, is large enough to read; the others are below it
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
        show(DIFFERENCE, _difference(sides), linked=(A, B))


def _one(sides: HeadComparison, number: Literal[0, 1], *, follows: bool = False) -> None:
    def choose(row: int, column: int) -> None:
        controls.pin(row)
        controls.pin(column, "to")

    show(
        KEYS[number],
        _head(sides, number),
        click="" if number else "choose its two tokens",
        linked=[other for other in KEYS if other != KEYS[number]],
        follows=follows,
        on_pick=None if number else choose,
    )


def _head(sides: HeadComparison, number: Literal[0, 1]) -> Cells:
    side = sides.lessons[number]
    layer, head = side.choice.layer, side.choice.head
    mask = side.trace[f"{layer}.mask"]
    mask = mask[head] if mask.ndim == 3 else mask  # an edit may give each head a different one
    return Cells(
        np.where(mask, side.trace[f"{layer}.pattern"][head], np.nan)[None],
        Axis("query", of_queries(side.trace, layer)),
        Axis("key", key_names(side)),
        share(),
        titles=(sides.titles[number],),
        square=True,
        pair=HeadPair(
            side=number,
            queries=sides.queries.order,
            keys=sides.keys.order,
            cell=(sides.query, sides.key),
            blind=sides.blind,
        ),
    )


def _difference(sides: HeadComparison) -> Cells:
    a, b = _head(sides, 0), _head(sides, 1)
    scale, pair = replace(a.scale, colours="signed"), a.pair and replace(a.pair, other=b)
    return replace(a, scale=scale, form=ValueFormat(sign=True), titles=("B − A",), pair=pair)


def _have_same_heads(ctx: PageContext, ctx_b: PageContext) -> bool:
    a, b = ctx.choice, ctx_b.choice
    shapes = [(side.model.config.layers, side.model.config.attention.n_heads) for side in (ctx, ctx_b)]
    return (a.layer, a.head) == (b.layer, b.head) and shapes[0] == shapes[1]


def _all_heads(sides: HeadComparison, on_look: Callable[[], None] | None) -> None:
    ctx, ctx_b = sides.lessons
    layers = [layer for layer in ctx.model.config.layers if kind_of(layer) == kind_of(ctx.choice.layer)]
    if not sides.queries.pairs:
        st.markdown("The two have no token in common.")
        return
    patterns = [(ctx.trace[f"{layer}.pattern"], ctx_b.trace[f"{layer}.pattern"]) for layer in layers]
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
        figures.changes(moved, chosen=(ctx.choice.layer_index, ctx.choice.head)),
        click=controls.LOOKS,
        on_pick=look_at,
    )
