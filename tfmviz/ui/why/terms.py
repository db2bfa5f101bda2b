"""The score as a sum: all of it as a matrix of writers, its largest terms as a list."""

from __future__ import annotations

import re

import numpy as np
import streamlit as st

from tfmviz.analysis.why.reading import folded, largest
from tfmviz.analysis.why.score import SIDES, ScoreSum
from tfmviz.plots.cells import named
from tfmviz.ui import controls, inputs, side
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.why import believe, subject
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import said_of_queries
from tfmviz.words.numbers import counted, decimal, per_cent

SHOWN, PROJECTED = 11, 6
"""Writers of each side that have a row or column of their own; on half of a projector, where numbers are large."""


def terms(here: Lesson) -> None:
    if (found := subject.ask(here)) is None:
        return
    _in_words(here, found)
    chosen = _chosen(found)
    _matrix(here, found, chosen)
    _exactly(found)
    left, right = st.columns([3, 2])
    with left:
        _list(here, found, chosen)
    with right:
        _removals(here, found, chosen)


def _in_words(here: Lesson, found: ScoreSum) -> None:
    """What the score is, where it stands in its row, and what it is the sum of."""
    names, (a, b) = subject.names(here), _largest(found)[0]
    query, key = (subject.said(found.readings[side].names[n]) for side, n in zip(SIDES, (a, b), strict=True))
    result(
        f"{_standing(here, found)} It is the sum of **{found.terms.size:,} terms**; the largest, "
        f"**{decimal(float(found.terms[a, b]), '+.2f')}**, pairs {query} in {names['query']} with {key} in "
        f"{names['key']}."
    )


def _standing(here: Lesson, found: ScoreSum) -> str:
    """The score among those of its row."""
    names, choice = subject.names(here), here.choice
    asks = markdown.plain(said_of_queries(here.trace, choice.layer)[here.query])
    row = here.trace[f"{choice.layer}.scores"][choice.head, here.query]
    share = float(here.trace[f"{choice.layer}.pattern"][choice.head, here.query, here.key])
    if found.is_masked:
        return f"The mask replaces the score **{decimal(found.measured)}** from {asks} to {names['key']} with −∞."
    allowed = row[np.isfinite(row)]
    rank = 1 + int((allowed > row[here.key]).sum())
    place = "the largest" if rank == 1 else f"rank {rank}"
    return (
        f"From {asks} to {names['key']} the score is **{decimal(found.measured)}**, {place} of {len(allowed)} "
        f"in its row; its share is **{per_cent(share)}**."
    )


def _exactly(found: ScoreSum) -> None:
    """How exact the sum is, and what else belongs to it."""
    more = ""
    if found.bias:
        more += f" {decimal(found.bias, '+.2f')} is the distance bias."
    if found.cap is not None:
        more += f" Capped: {found.cap:g} · tanh(sum / {found.cap:g})."
    st.caption(f"With each σ held the sum is {decimal(found.total)}, the score {decimal(found.measured)}.{more}")


def _largest(found: ScoreSum) -> list[tuple[int, int]]:
    n_keys = found.terms.shape[1]
    return [divmod(index, n_keys) for index in largest(found.terms.ravel(), 10)]


def _chosen(found: ScoreSum) -> tuple[int, int]:
    """The term that is chosen: what the address says, else the largest."""
    if asked := re.fullmatch(r"([0-9]{1,5})\.([0-9]{1,5})", st.query_params.get("term", "")):
        row, column = int(asked[1]), int(asked[2])
        if row < found.terms.shape[0] and column < found.terms.shape[1]:
            return row, column
    return _largest(found)[0]


def _choose(term: tuple[int, int]) -> None:
    controls.put({"term": f"{term[0]}.{term[1]}"})


def _matrix(here: Lesson, found: ScoreSum, chosen: tuple[int, int]) -> None:
    """The writers whose terms are largest, in the order in which they write; all others together."""
    sizes = np.abs(found.terms)
    most = PROJECTED if side.now() and st.session_state.get("projected") else SHOWN
    kept = [sorted(largest(sizes.sum(axis=axis), most)) for axis in (1, 0)]
    values = folded(found.terms, *kept)
    written = [_names(found, n, kept[n]) for n in (0, 1)]
    values = values[: len(written[0]), : len(written[1])]
    cell = tuple(lines.index(n) if n in lines else None for lines, n in zip(kept, chosen, strict=True))
    names = subject.labels(here)

    def pick(row: int, column: int) -> None:
        if row < len(kept[0]) and column < len(kept[1]):
            _choose((kept[0][row], kept[1][column]))

    show(
        "terms",
        subject.terms(
            values,
            named(written[0], f"wrote into {names['query']}"),
            named(written[1], f"wrote into {names['key']}"),
            "added to the score",
            chosen=None if None in cell else cell,  # type: ignore[arg-type]
        ),
        click="choose the term",
        on_pick=pick,
    )


def _names(found: ScoreSum, n: int, kept: list[int]) -> list[str]:
    """The names of rows or columns; the last stands for all others, if there are any."""
    names = found.readings[SIDES[n]].names
    others = len(names) - len(kept)
    return [names[index] for index in kept] + ([counted(others, "other")] if others else [])


def _list(here: Lesson, found: ScoreSum, chosen: tuple[int, int]) -> None:
    """The largest terms; a click chooses one."""
    best, labels = _largest(found), subject.labels(here)
    sides = [found.readings[side].names for side in SIDES]
    show(
        "largest_terms",
        Table(
            caption=f"The {counted(len(best), 'largest term')}",
            columns=[f"wrote into {labels['query']}", f"wrote into {labels['key']}", "adds"],
            rows=[[sides[0][a], sides[1][b], decimal(float(found.terms[a, b]), "+.2f")] for a, b in best],
            picked=best.index(chosen) if chosen in best else -1,
        ),
        on_pick=lambda row: _choose(best[row]),
    )


def _removals(here: Lesson, found: ScoreSum, chosen: tuple[int, int]) -> None:
    """Two buttons: what would be without this writer in the query, or in the key?"""
    names = subject.names(here)
    for end, writer in zip(SIDES, chosen, strict=True):
        inputs.button(
            f"Remove {subject.said(found.readings[end].names[writer])} from the {end} of {names[end]}",
            key=f"remove_{end}",
            on_click=believe.remove,
            args=(end, writer),
            width="stretch",
        )
