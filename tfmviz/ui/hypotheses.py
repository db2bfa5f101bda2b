"""One text of a beam search: chosen in the tree, kept in the address, and taken apart word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, zip_longest

import numpy as np
import streamlit as st

from tfmviz.record.decoding import BeamStep, Candidate, Hypothesis, way_to
from tfmviz.record.model import Model
from tfmviz.ui import controls, side
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import END, visible
from tfmviz.words.numbers import counted, decimal, per_cent

CODE = re.compile(r"[0-9a-z]{1,4}(\.[0-9a-z]{1,4}){0,99}")
"""Tokens to the base of 36, with points between them."""


def named(model: Model, token: int) -> str:
    """A token in the tree; the mark that ends a text has a short name."""
    return END if token in model.tokenizer.marks.ends else visible(model.vocabulary[token])


def text_of(model: Model, ids: Sequence[int]) -> str:
    """A text in the tree, without the mark at its end."""
    written = model.tokenizer.decode([index for index in ids if index not in model.tokenizer.marks.ends])
    return " ".join(written.split()) or "(nothing)"


def asked(here: Lesson) -> tuple[int, ...]:
    """The tokens that the address asks for; () for none, and for those of another text."""
    if side.is_b():  # its texts are others
        return ()
    about = here.short_name
    if st.session_state.setdefault("hypothesis_about", about) != about:
        st.session_state["hypothesis_about"] = about
        choose(())
    code = st.query_params.get("hypothesis", "")
    return tuple(int(token, 36) for token in code.split(".")) if CODE.fullmatch(code) else ()


def choose(ids: Sequence[int]) -> None:
    """Puts a text into the address."""
    controls.put({"hypothesis": ".".join(np.base_repr(token, 36).lower() for token in ids)})


def explain(model: Model, ids: Sequence[int], found: Sequence[BeamStep], alpha: float) -> None:
    """The words of a chosen text with their log-probabilities, its score, and where it leaves the winner."""
    winner = found[-1].complete[0]
    way, best = way_to(ids, found), way_to(winner.ids, found)
    if way is None or best is None:
        st.markdown("The chosen text is not one that this search considered.")
        return
    text = markdown.plain(text_of(model, ids))
    score, n = way[-1].score, len(way)
    st.markdown(
        f"**“{text}”** {_fate(found[n - 1], way[-1])} Score: **{decimal(score)}**, normalised {decimal(score)} / {n}ᵅ "
        f"= **{decimal(score / n**alpha, '.3f')}** (α = {alpha:g}). {_against(model, ids, way, winner, best)}"
    )
    show("hypothesis_words", _table(model, ids, way, winner.ids, best))


def _fate(step: BeamStep, candidate: Candidate) -> str:
    """What became of a continuation at its step, and in which place it stood there."""
    became = {"complete": "was complete", "goes on": "went on", "dropped": "was dropped"}[candidate.fate]
    place, n_going = step.candidates.index(candidate) + 1, len(step.running)
    return (
        f"{became} at step {step.length}, as number {place} of {counted(len(step.candidates), 'continuation')}; "
        f"{n_going} went on."
    )


def _against(
    model: Model, ids: Sequence[int], way: Sequence[Candidate], winner: Hypothesis, best: Sequence[Candidate]
) -> str:
    part = next((n for n, both in enumerate(zip(ids, winner.ids, strict=False)) if both[0] != both[1]), None)
    if part is None:
        return "It is the winner." if len(ids) == len(winner.ids) else "It is how the winner begins."
    own, other = (
        f"“{markdown.plain(named(model, one[part]))}” ({per_cent(float(np.exp(steps[part].log_probability)))})"
        for one, steps in ((ids, way), (winner.ids, best))
    )
    return (
        f"It leaves the winner at word {part + 1}: {own} instead of {other}. The winner's score: "
        f"{decimal(winner.score)}, normalised {decimal(winner.normalised, '.3f')}."
    )


def _table(
    model: Model, ids: Sequence[int], way: Sequence[Candidate], others: Sequence[int], best: Sequence[Candidate]
) -> Table:
    """The sums word by word, beside those of the winner."""
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
