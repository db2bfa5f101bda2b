from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, zip_longest

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.side_by_side import parting
from tfmviz.record.decoding import BeamStep, Candidate, Hypothesis, way_to
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import inputs, lesson, side, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_table
from tfmviz.ui.lesson import PageContext
from tfmviz.views.beams import Kind, Node, Tree
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import END, visible
from tfmviz.words.numbers import counted, decimal, per_cent

WINDOW = 12
"""The most steps of the tree drawn side by side: more would leave no room for their words."""


def search(ctx: PageContext, *, banned: tuple[int, ...] = (), longest: int = WINDOW) -> None:
    """The tree, and its best texts.

    Args:
        banned: tokens that may not be written.
        longest: the most tokens of a text.
    """
    with st.container(horizontal=True, key=side.key("line-beams")):
        width, alpha = ask()
        found = found_by(ctx.model, ctx.text, width, alpha, banned, longest, edits=ctx.edits)
        upto = n = len(found)
        if longest > WINDOW and n > 1:
            upto = inputs.slider("Up to step", 0, n, 0, key="tree_steps", help="0: to the end") or n
    lesson.say_what_is_continued(ctx, longest)
    best = found[-1].complete[0]
    text = text_of(ctx.model, best.ids)
    chosen, first = requested(ctx), max(1, upto - WINDOW + 1)
    show(
        "tree",
        Tree(nodes=[node for node in nodes_of(found, width, ctx.model) if first <= node.step <= upto], chosen=chosen),
        alt=f"The best text with {width} beams: {text}, score {best.score:.2f}, normalised {best.normalised:.2f}.",
        on_pick=choose,
    )
    if chosen:
        explain(ctx.model, chosen, found, alpha)
    result(
        f"{_against_greedy(ctx, best, banned, longest)} Grey continuations were dropped. A score is log P, a "
        f"sum over tokens; arg max P is sought. Complete texts compete by score / nᵅ (α = {alpha:g}), so a longer one "
        "can win."
    )
    rows = [
        (text_of(ctx.model, one.ids), str(len(one.ids)), decimal(one.score), decimal(one.normalised, ".3f"))
        for one in found[-1].complete
    ]
    show_table(
        "complete",
        caption="Complete texts",
        columns=("text", "n", "score", "score / nᵅ"),
        rows=rows,
        about=f"It stops when no running text beats the worst of {width} complete ones, or at {longest} words.",
    )


def ask() -> tuple[int, float]:
    width = inputs.slider("Beams", 1, 8, 3, key="beams")
    return width, inputs.slider("Length penalty α", 0.0, 2.0, 1.0, 0.1, key="alpha")


def _against_greedy(ctx: PageContext, best: Hypothesis, banned: tuple[int, ...], longest: int) -> str:
    greedy = found_by(ctx.model, ctx.text, 1, 1.0, banned, longest, edits=ctx.edits)[-1].complete[0]
    same = parting(greedy.ids, best.ids)
    if same is None:
        return "The best text is the greedy one."
    words = [markdown.plain(named(ctx.model, ids[same])) for ids in (greedy.ids, best.ids)]
    return (
        f"They diverge at word {same + 1}: greedy “{words[0]}”, best “{words[1]}”. Scores: {decimal(greedy.score)} and "
        f"{decimal(best.score)}."
    )


@cached_for_all
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
    return zoo.writing.search(
        model, text, width=width, length_penalty=alpha, banned=banned, max_new_tokens=longest, edits=edits, at=at
    ).beams


def nodes_of(found: Sequence[BeamStep], width: int, model: Model) -> list[Node]:
    """The continuations kept or completed, and as many of the dropped ones as there are beams."""
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
            word = named(model, candidate.token)
            spoken = f"“{word}”: {per_cent(np.exp(candidate.log_probability))}, text {decimal(candidate.score)}; {kind}"
            at = {"step": step.length, "rank": rank, "parent": ranks[candidate.parent]}
            nodes.append(Node(**at, ids=ids, word=word, kind=kind, spoken=spoken))
        going = [(rank, ids) for rank, (one, ids) in enumerate(shown) if one.fate == "goes on"]
        ranks, texts = [rank for rank, _ in going], [ids for _, ids in going]
    return nodes


CODE = re.compile(r"[0-9a-z]{1,4}(\.[0-9a-z]{1,4}){0,99}")
"""Token ids to the base of 36, separated by points."""


def named(model: Model, token: int) -> str:
    return END if token in model.tokenizer.marks.ends else visible(model.vocabulary[token])


def text_of(model: Model, ids: Sequence[int]) -> str:
    """A text in the tree, without the special token at its end."""
    written = model.tokenizer.decode([index for index in ids if index not in model.tokenizer.marks.ends])
    return " ".join(written.split()) or "(nothing)"


def requested(ctx: PageContext) -> tuple[int, ...]:
    """The token ids in the address; () for those of another text."""
    if side.is_b():  # the address has A's text
        return ()
    url.keep_for(ctx.short_name, "hypothesis")
    code = url.text("hypothesis", CODE)
    return tuple(int(token, 36) for token in code.split(".")) if code else ()


def choose(ids: Sequence[int]) -> None:
    url.put({"hypothesis": ".".join(np.base_repr(token, 36).lower() for token in ids)})


def explain(model: Model, ids: Sequence[int], found: Sequence[BeamStep], alpha: float) -> None:
    winner = found[-1].complete[0]
    way, best = way_to(ids, found), way_to(winner.ids, found)
    if way is None or best is None:
        st.markdown("The chosen text is not one that this search considered.")
        return
    text, n = markdown.plain(text_of(model, ids)), len(way)
    last, step, score = way[-1], found[n - 1], way[-1].score
    became = {"complete": "was complete", "goes on": "went on", "dropped": "was dropped"}[last.fate]
    fate = (
        f"{became} at step {step.length}, as number {step.candidates.index(last) + 1} of "
        f"{counted(len(step.candidates), 'continuation')}; {len(step.running)} went on."
    )
    against = "It is the winner." if len(ids) == len(winner.ids) else "It is how the winner begins."
    if (part := parting(ids, winner.ids)) is not None:
        own, other = (
            f"“{markdown.plain(named(model, one[part]))}” ({per_cent(float(np.exp(steps[part].log_probability)))})"
            for one, steps in ((ids, way), (winner.ids, best))
        )
        against = (
            f"It leaves the winner at word {part + 1}: {own} instead of {other}. The winner's score: "
            f"{decimal(winner.score)}, normalised {decimal(winner.normalised, '.3f')}."
        )
    st.markdown(
        f"**“{text}”** {fate} Score: **{decimal(score)}**, normalised {decimal(score)} / {n}ᵅ "
        f"= **{decimal(score / n**alpha, '.3f')}** (α = {alpha:g}). {against}"
    )
    show("hypothesis_words", _table(model, ids, way, winner.ids, best))


def _table(
    model: Model, ids: Sequence[int], way: Sequence[Candidate], others: Sequence[int], best: Sequence[Candidate]
) -> Table:
    nothing = ("", 0.0, 0.0)
    left, right = (
        [
            (named(model, token), one.log_probability, total)
            for token, one, total in zip(*both, accumulate(one.log_probability for one in both[1]), strict=True)
        ]
        for both in ((ids, way), (others, best))
    )
    rows = []
    for n, ((word, p, total), (other, other_p, other_total)) in enumerate(
        zip_longest(left, right, fillvalue=nothing), 1
    ):
        own_cells = [f"{n} {word}", decimal(p), decimal(total)] if word else [str(n), "", ""]
        rows.append([*own_cells, *([decimal(other_total), decimal(other_p), other] if other else [""] * 3)])
    return Table(
        caption="The chosen text (left) and the winner",
        columns=("word", "log p", "sum", "sum", "log p", "winner"),
        rows=rows,
    )
