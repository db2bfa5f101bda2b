"""Beam search on a page: the tree of continuations, and the best complete texts with their scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.record.decoding import BeamStep, Candidate, Hypothesis
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import hypotheses, inputs, lesson, side
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.views.beams import Kind, Node, Tree
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal, per_cent

WINDOW = 12
"""The most steps of the tree that are drawn side by side: more would not leave room for their words."""


def search(here: Lesson, *, banned: tuple[int, ...] = (), longest: int = WINDOW) -> None:
    """The tree of a beam search from the beginning, and its best texts.

    Args:
        banned: tokens that may not be written.
        longest: the most words of a text.
    """
    with st.container(horizontal=True, key=side.key("line-beams")):
        width, alpha = ask()
        found = found_by(here.model, here.text, width, alpha, banned, longest)
        upto = _steps(len(found)) if longest > WINDOW else len(found)
    lesson.say_what_is_continued(here, longest)
    best = found[-1].complete[0]
    text = hypotheses.text_of(here.model, best.ids)
    chosen = hypotheses.asked(here)
    show(
        "tree",
        Tree(nodes=_last_steps(nodes_of(found, width, here.model), upto), chosen=chosen),
        alt=f"The best text with {width} beams: {text}, score {best.score:.2f}, normalised {best.normalised:.2f}.",
        on_pick=hypotheses.choose,
    )
    if chosen:
        hypotheses.explain(here.model, chosen, found, alpha)
    result(
        f"{_against_greedy(here, best, banned, longest)} Grey continuations were dropped. A score is log P, a "
        f"sum over tokens; arg max P is sought. Complete texts compete by score / nᵅ (α = {alpha:g}), so a longer one "
        "can win."
    )
    rows = "\n".join(
        f"| {markdown.plain(hypotheses.text_of(here.model, one.ids))} | {len(one.ids)} | {decimal(one.score)} | "
        f"{decimal(one.normalised, '.3f')} |"
        for one in found[-1].complete
    )
    st.markdown(f"| complete text | n | score | score / nᵅ |\n|---|---|---|---|\n{rows}")
    st.caption(f"It stops when no running text beats the worst of {width} complete ones, or at {longest} words.")


def ask() -> tuple[int, float]:
    """Asks for the number of beams and the length penalty."""
    width = inputs.slider("Beams", 1, 8, 3, key="beams")
    return width, inputs.slider("Length penalty α", 0.0, 2.0, 1.0, 0.1, key="alpha")


def _steps(n: int) -> int:
    """Asks up to which of n steps the tree is drawn; 0 in the address stands for all."""
    if n < 2:
        return n
    return inputs.slider("Up to step", 0, n, 0, key="tree_steps", help="0: to the end") or n


def _last_steps(nodes: Sequence[Node], upto: int) -> list[Node]:
    """The nodes of the last `WINDOW` steps up to one; the steps before them are left out."""
    first = max(1, upto - WINDOW + 1)
    return [node for node in nodes if first <= node.step <= upto]


def _against_greedy(here: Lesson, best: Hypothesis, banned: tuple[int, ...], longest: int) -> str:
    """Where the best text leaves the greedy one: one beam writes what greedy writes."""
    greedy = found_by(here.model, here.text, 1, 1.0, banned, longest)[-1].complete[0]
    same = next((n for n, pair in enumerate(zip(greedy.ids, best.ids, strict=False)) if pair[0] != pair[1]), None)
    if same is None:
        return "The best text is the greedy one."
    words = [markdown.plain(hypotheses.named(here.model, ids[same])) for ids in (greedy.ids, best.ids)]
    return (
        f"They diverge at word {same + 1}: greedy “{words[0]}”, best “{words[1]}”. Scores: {decimal(greedy.score)} and "
        f"{decimal(best.score)}."
    )


@shared
def found_by(  # the arguments are the key under which the result is kept
    model: Model,
    text: str,
    width: int,
    alpha: float,
    banned: tuple[int, ...] = (),
    longest: int = 40,
    *,
    edits: tuple[Edit, ...] = (),
    at: int | None = None,
) -> tuple[BeamStep, ...]:
    """All steps of a beam search; see `writing.search`."""
    return zoo.writing.search(
        model, text, width=width, length_penalty=alpha, banned=banned, max_new_tokens=longest, edits=edits, at=at
    ).beams


def nodes_of(found: Sequence[BeamStep], width: int, model: Model) -> list[Node]:
    """All that went on or was completed, and as many dropped continuations as there are beams."""
    best = found[-1].complete[0].ids
    nodes: list[Node] = []
    ranks: list[int] = [0]  # of the running texts
    texts: list[tuple[int, ...]] = [()]
    for step in found:
        shown: list[tuple[Candidate, tuple[int, ...]]] = []
        n_dropped = 0
        for candidate in step.candidates:
            n_dropped += candidate.fate == "dropped"
            if candidate.fate != "dropped" or n_dropped <= width:
                shown.append((candidate, (*texts[candidate.parent], candidate.token)))
        for rank, (candidate, ids) in enumerate(shown):
            kind: Kind = "best" if ids == best[: step.length] and candidate.fate != "dropped" else candidate.fate
            word = hypotheses.named(model, candidate.token)
            said = f"“{word}”: {per_cent(np.exp(candidate.log_probability))}, text {decimal(candidate.score)}; {kind}"
            at = {"step": step.length, "rank": rank, "parent": ranks[candidate.parent]}
            nodes.append(Node(**at, ids=ids, word=word, kind=kind, said=said))
        going = [(rank, ids) for rank, (one, ids) in enumerate(shown) if one.fate == "goes on"]
        ranks, texts = [rank for rank, _ in going], [ids for _, ids in going]
    return nodes
