"""Why scores are divided by √d: with random vectors, and with this head's own."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import scaling
from tfmviz.analysis.predictions import softmax
from tfmviz.plots import steps as figures
from tfmviz.plots.pairs import pairs
from tfmviz.record.trace import Array
from tfmviz.ui import controls, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.steps.heads import number, own

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

N_QUERIES, N_KEYS = 256, 16
"""Rows and keys per row of the experiment with random vectors."""


def scaling_lab(here: Lesson) -> None:
    """Scores with and without ÷ √d, for vectors of any width."""
    with lesson.line("scaling"):
        source = st.radio(
            "Vectors", ("random, variance 1", "this head's own"), horizontal=True, key="vectors", bind="query-params"
        )
        its_own = source == "this head's own"
        d = _ask_width(here, its_own=its_own)
    if its_own and here.weights.is_linear:
        st.markdown("Linear attention takes no power of e, so it need not divide.")
    elif its_own and not here.weights.divided_by:
        st.markdown("This model does not divide: training made queries and keys small enough.")
    scores, mask, names = _own_scores(here, d) if its_own else _random_scores(d)
    row = here.query if its_own else 0
    plain, scaled = scaling.sharpness(scores, mask), scaling.sharpness(scores / np.sqrt(d), mask)
    left, right = st.columns(2)
    with left:
        _histograms(scores[mask], scores[mask] / np.sqrt(d))
    with right:
        shares = [softmax(np.where(mask[row], values[row], -np.inf)) for values in (scores, scores / np.sqrt(d))]
        show(
            pairs(names, *shares, series=("q · k", "q · k / √d"), title="share after softmax", theme=theme()),
            key="softmax_rows",
            alt=f"Softmax of one row: the largest share is {shares[0].max():.2f} without, {shares[1].max():.2f} with "
            "scaling.",
        )
    law = f"In theory, for independent numbers of variance 1: Var(q · k) = d = {d}."
    st.markdown(
        f"Variance of q · k over {int(mask.sum()):,} pairs: **{number(plain.variance)}**. {law} After division "
        f"by √d = {np.sqrt(d):.2f} it is **{number(scaled.variance)}**."
    )
    st.table(
        {
            "averaged over all rows": ["largest share", "evenness (entropy, 1 = all alike)", "gradient of the softmax"],
            "q · k": [number(plain.largest), number(plain.evenness), number(plain.gradient)],
            "q · k / √d": [number(scaled.largest), number(scaled.evenness), number(scaled.gradient)],
        }
    )


def _ask_width(here: Lesson, *, its_own: bool) -> int:
    """Asks for d, which cannot exceed the width of the head's own vectors."""
    if not its_own:
        return st.select_slider("d, numbers in each vector", list(WIDTHS), 64, key="d", bind="query-params")
    d_head: int = here.trace[f"{here.choice.layer}.q"].shape[-1]
    controls.at_most("d_own", d_head)
    widths: list[int] = [*(d for d in WIDTHS if d < d_head), d_head]
    return st.select_slider("d, numbers in each vector", widths, value=d_head, key="d_own", bind="query-params")


def _histograms(scores: Array, scaled: Array) -> None:
    """How the scores are spread before and after the division."""
    largest = max(float(np.abs(scores).max()), 1e-6)
    middles, raw = scaling.histogram(scores, largest=largest)
    _, narrow = scaling.histogram(scaled, largest=largest)
    show(
        figures.histogram(middles, raw, narrow, theme=theme()),
        key="score_histogram",
        alt=f"Scores reach from {scores.min():.1f} to {scores.max():.1f}; divided by √d they lie between "
        f"{scaled.min():.1f} and {scaled.max():.1f}.",
    )


def _random_scores(d: int) -> tuple[Array, Array, list[str]]:
    scores = scaling.dot_products(*_random_vectors(d))
    return scores, np.ones(scores.shape, dtype=bool), [f"key {j}" for j in range(N_KEYS)]


@shared
def _random_vectors(d: int) -> tuple[Array, Array]:
    return scaling.unit_vectors(d, n_queries=N_QUERIES, n_keys=N_KEYS, seed=d)


def _own_scores(here: Lesson, d: int) -> tuple[Array, Array, list[str]]:
    trace, choice = here.trace, here.choice
    q, k = (own(here, name)[:, :d].astype(np.float64) for name in ("q", "k"))
    scores = q @ k.T
    mask = np.broadcast_to(trace[f"{choice.layer}.mask"], scores.shape)
    return scores, mask, list(trace.axes(choice.layer)[1].tokens)
