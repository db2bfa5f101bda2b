"""Two beam searches side by side: the tree as it is, and the tree with one thing changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from tfmviz.record.decoding import BeamStep
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import beams, inputs, side
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson, line
from tfmviz.views.beams import Node, Tree
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal

WINDOW = 6
"""The most steps of each tree that are drawn: two trees stand side by side."""


def compare(here: Lesson, text: str, *, edits: tuple[Edit, ...], at: int | None, says: str) -> None:
    """The tree of the reader's source, and that of a changed source or a changed step.

    Args:
        text: the source of the second tree.
        edits, at: what is changed in it; see `writing.search`.
        says: the change in words.
    """
    model, figure = here.model, st.container()
    with line("beams"):
        width, alpha = beams.ask()
        before = beams.found_by(model, here.text, width, alpha)
        after = beams.found_by(model, text, width, alpha, edits=edits, at=at)
        trees = [beams.nodes_of(found, width, model) for found in (before, after)]
        part = _where_they_part(*trees)
        first = _first_step(part, max(len(before), len(after)))
    both = figure.container(horizontal=True, key=side.key("trees"))
    for key, found, nodes in zip(("before", "after"), (before, after), trees, strict=True):
        with both.container():
            _draw(model, found, [node for node in nodes if first <= node.step < first + WINDOW], key=key)
    same = "The two trees are the same." if part is None else f"The trees have the same words up to step {part - 1}."
    if part == 1:
        same = "The trees differ from the first step."
    result(f"{says} {same} The best continuations are on top; grey ones were dropped.")


def _where_they_part(one: Sequence[Node], other: Sequence[Node]) -> int | None:
    a, b = ({(n.step, n.rank, n.parent, n.word, n.kind == "dropped") for n in tree} for tree in (one, other))
    return min((step for step, *_ in a ^ b), default=None)


def _first_step(part: int | None, n: int) -> int:
    """Asks from which of n steps on the trees are drawn; 0 in the address stands for the one before they part."""
    last = n - WINDOW + 1
    if last < 2:
        return 1
    chosen = inputs.slider("From step", 0, last, 0, key="from", help="0: where the trees diverge")
    return chosen or min(max((part or 1) - 1, 1), last)


def _draw(model: Model, found: Sequence[BeamStep], nodes: list[Node], *, key: str) -> None:
    best = found[-1].complete[0]
    text = beams.text_of(model, best.ids)
    name = "As it is" if key == "before" else "With the change"
    show(
        f"tree_{key}",
        Tree(nodes=nodes),
        alt=f"{name}: the best text is {text}, score {best.score:.2f}, normalised {best.normalised:.2f}.",
    )
    scores = f"score {decimal(best.score)}, normalised {decimal(best.normalised, '.3f')}"
    st.markdown(f"{name}: “{markdown.plain(text)}” ({scores}).")
