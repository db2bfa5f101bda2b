"""Text drawn word by word from the counts, and what each word was drawn from."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.counting.smoothing import Counted, Smoothing
from tfmviz.counting.words import MARK
from tfmviz.counting.writing import Step, joined, written
from tfmviz.ui import controls, inputs
from tfmviz.ui.cache import shared
from tfmviz.ui.counting.choices import Counting
from tfmviz.ui.counting.table import name_of
from tfmviz.ui.figures import show
from tfmviz.views.bars import Bars
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import rounded

LENGTH = 25
"""Words that are drawn."""

SHOWN = 60
"""The most words of the typed sentence that are written out before them."""

SEEDS = 999

BARS = 10


def writing(at: Counting) -> None:
    """Writes on from the typed words, and shows one step in full."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        inputs.number_box("Seed", key="draw_seed", min_value=0, max_value=SEEDS, width=130)
        inputs.button("Write another", on_click=_next_seed)
    seed = int(st.session_state["draw_seed"])
    steps = _written(at.text, at.history, at.smoothing, at.n, seed)
    typed = at.history[1:]
    names = ["…"] * (len(typed) > SHOWN) + [visible(at.text.vocabulary[word]) for word in typed[-SHOWN:]]
    drawn = ["\n" if step.word == MARK else visible(at.text.vocabulary[step.word]) for step in steps]
    st.code(joined([*names, *drawn]), language=None, wrap_lines=True)
    before = at.n - 1 if at.n > 2 else "one"
    st.markdown(
        (
            f"Each word depends only on the {before} before it, so only short pieces make sense. "
            if at.n > 1
            else "With n = 1 no word depends on any other. "
        )
        + "Click a word to see its rivals."
    )
    picked = min(inputs.asked_number("drawn") or 0, len(steps) - 1)
    left, right = st.columns(2)
    with left:
        show(
            "steps_written",
            Table(
                caption="Step by step",
                columns=("word", "drawn after", "P(w | h)"),
                rows=[
                    (name_of(at, step.word), at.said(step.context) or "nothing", rounded(step.probability))
                    for step in steps
                ],
                picked=picked,
                low=True,
            ),
            on_pick=lambda row: controls.put({"drawn": str(row)}),
        )
    with right:
        _drawn_from(at, steps[picked], picked)


@shared
def _written(text: Counted, history: tuple[int, ...], smoothing: Smoothing, n: int, seed: int) -> tuple[Step, ...]:
    return tuple(written(text, history, smoothing, n=n, length=LENGTH, seed=seed))


def _next_seed() -> None:
    st.session_state["draw_seed"] = (st.session_state["draw_seed"] + 1) % (SEEDS + 1)


def _drawn_from(at: Counting, step: Step, number: int) -> None:
    """The most probable words at one step, and the one that was drawn."""
    p = at.text.distribution(step.context, at.smoothing, n=at.n)
    best = [word for word in np.argsort(-p, kind="stable")[:BARS].tolist() if p[word] > 0]
    possible = int((p > 0).sum())
    if step.word not in best:
        best = [*best[: BARS - 1], step.word]
    where = f"that may follow “{markdown.plain(at.said(step.context))}”" if step.context else "of the text"
    st.markdown(
        f"Word {number + 1}, “{markdown.plain(name_of(at, step.word))}”, was drawn from {possible:,} "
        f"{'word' if possible == 1 else 'words'} {where}."
    )
    labels = [f"→ {name_of(at, word)}" if word == step.word else name_of(at, word) for word in best]
    show("drawn_from", Bars(labels=labels, shares=[p[best].tolist()]))
