"""Test it: one path removed, and what that really does to score, attention and next word."""

from __future__ import annotations

import re

import streamlit as st

from tfmviz.analysis.why.reading import BIASES, largest
from tfmviz.analysis.why.score import SIDES, Pair, ScoreSum, Side, measured, removal
from tfmviz.plots.pairs import pairs
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.ui import before_after, controls, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.why import subject
from tfmviz.views.counts import Table
from tfmviz.words.numbers import decimal, per_cent, rounded

TAB = "Test it"  # its title in pages/why.py, which the search reads there

Path = tuple[Side, int]
"""A writer of the query or of the key."""

SERIES = ("as it is", "without the path")


def remove(side: Side, writer: int) -> None:
    """Opens the tab with this path removed."""
    controls.put({"taken": f"{side[0]}{writer}"})
    st.session_state["why"] = TAB


def believe(here: Lesson) -> None:
    if (found := subject.ask(here)) is None:
        return
    path = _chosen(found)
    pair = subject.pair_of(here)
    after = _run(here.model, here.text, pair, path)
    left, right = st.columns(2)
    with left:
        _list(here, found, path)
    with right:
        _in_words(here, found, path, after)
    left, right = st.columns(2)  # so that the charts begin at one height
    with left:
        _rows(here, after)
    with right, lesson.where_it_predicts():
        before_after.next_words(here, after, here.target, series=SERIES, key="words_without")


@shared
def _run(model: Model, text: str, pair: Pair, path: Path) -> Trace:
    """A run in which the head does not read this writer's share on this side."""
    trace, (side, writer) = models.trace(model, text), path
    edit = removal(subject.sum_of(model, text, pair), pair, model.weights, side=side, writer=writer)
    names = [name for name in ("q", "k", "rot_q", "rot_k", "pattern") if f"{pair.layer}.{name}" in trace]
    logits = ["logits"] if "logits" in trace else []
    return models.run(model, text, (edit,), sites=[f"{pair.layer}.{name}" for name in names] + logits)


def _paths(found: ScoreSum) -> list[Path]:
    """The paths whose terms sum to most in size, those of the query first."""
    return [(side, writer) for side in SIDES for writer in largest(found.by_writer(side), 5)]


def _chosen(found: ScoreSum) -> Path:
    """The path that is removed: what the address says, else the one that is expected to do most."""
    if asked := re.fullmatch(r"([qk])([0-9]{1,5})", st.query_params.get("taken", "")):
        side: Side = "query" if asked[1] == "q" else "key"
        if int(asked[2]) < len(found.readings[side].names):
            return side, int(asked[2])
    return max(_paths(found), key=lambda path: abs(found.predicted(*path)) * (_writer(found, path) != BIASES))


def _writer(found: ScoreSum, path: Path) -> str:
    return found.readings[path[0]].names[path[1]]


def _list(here: Lesson, found: ScoreSum, path: Path) -> None:
    """The paths by what the sum predicts; a click removes one."""
    paths, labels = _paths(found), subject.labels(here)
    show(
        "paths",
        Table(
            caption="Click a path to remove it.",
            columns=["path", "predicted change"],
            rows=[
                [f"{_writer(found, p)} → {p[0]} of {labels[p[0]]}", decimal(found.predicted(*p), "+.2f")] for p in paths
            ],
            picked=paths.index(path) if path in paths else -1,
            low=True,
        ),
        on_pick=lambda row: controls.put({"taken": f"{paths[row][0][0]}{paths[row][1]}"}),
    )


def _in_words(here: Lesson, found: ScoreSum, path: Path, after: Trace) -> None:
    """Predicted and measured change side by side, why they differ, and what the softmax makes of it."""
    (side, _), pair, names = path, subject.pair_of(here), subject.names(here)
    together = subject.together(here.weights, here.choice.head) if side == "key" else ""
    change = measured(after, pair, here.weights) + found.bias - found.measured
    result(
        f"Without {subject.said(_writer(found, path))} in the {side} of {names[side]}: predicted "
        f"**{decimal(found.predicted(*path), '+.2f')}**, measured **{decimal(change, '+.2f')}**. {_why(found, path)} "
        f"{_share(here, found, after)}{together}"
    )


def _why(found: ScoreSum, path: Path) -> str:
    if (scales := found.readings[path[0]].scales(path[1])) is None:
        return "Later norms change too."
    before, after = map(rounded, scales)
    return f"Predicted with σ = {before}, which " + (f"becomes {after}." if before != after else "hardly changes.")


def _share(here: Lesson, found: ScoreSum, after: Trace) -> str:
    at, site = (here.choice.head, here.query, here.key), f"{here.choice.layer}.pattern"
    if found.is_masked:
        return "The mask keeps the share at 0."
    before, now = (per_cent(float(run[site][at])) for run in (here.trace, after))
    return f"Its share goes from {before} to {now}." if before != now else f"Its share stays at {now}."


def _rows(here: Lesson, after: Trace) -> None:
    """The row of the pattern, with the path and without."""
    site, at = f"{here.choice.layer}.pattern", (here.choice.head, here.query)
    keys = here.trace.axes(here.choice.layer)[1].tokens
    old, new = here.trace[site][at], after[site][at]
    show("row_without", pairs(keys, old, new, series=SERIES, title="share of attention", theme=theme()))
