"""How much a text does not contain: n-grams never seen, the size of the table, and what smoothing is worth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from tfmviz.counting.smoothing import LONGEST, HeldOut, Smoothing
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, Line, Stroke, curves, line_chart
from tfmviz.record.trace import Array
from tfmviz.ui import icons
from tfmviz.ui.cache import shared
from tfmviz.ui.counting import choices
from tfmviz.ui.counting.choices import DELTAS, Counting
from tfmviz.ui.figures import show, theme
from tfmviz.words.numbers import per_cent


def gaps(at: Counting) -> None:
    """Charts against n and δ, measured on held-out sentences."""
    if at.is_own:
        st.info("These charts use the app's own text, part of which is held out.", icon=icons.INFO)
    text = choices.shipped_text()
    with st.spinner("Measuring on held-out sentences…"):
        measured = choices.measured()
    sizes, unseen = np.array([len(grams.keys) for grams in text.grams], dtype=float), measured.never_seen()
    left, right = st.columns(2)
    with left:
        _unseen(unseen)
    with right:
        _sizes(sizes, text.vocab_size)
    _perplexities(measured, at)
    st.markdown(
        f"A perplexity of p over {measured.counts.shape[1]:,} held-out tokens is as hard as choosing among p words. "
        "Without smoothing, or with back-off alone, it is infinite."
    )


def _unseen(shares: Array) -> None:
    show(
        "never_seen",
        _by_length(shares, "never seen", per_cent, percent=True),
        title="How many held-out n-grams never occur in the counted text?",
    )


def _sizes(sizes: Array, vocab_size: int) -> None:
    show(
        "table_size",
        _by_length(sizes, "rows of the table", "{:,.0f}".format),
        title=f"Of {vocab_size:,}ⁿ possible n-grams, a text contains at most one per word.",
    )


def _by_length(values: Array, title: str, said: Callable[[float], str], *, percent: bool = False) -> Chart:
    """One number for n = 1, 2, 3 …, (n,)."""
    at = np.arange(1.0, len(values) + 1)
    line = Line(title, at, values, Stroke(theme().plain, dot=120), lambda n, value: f"n = {n:.0f}: {said(value)}")
    axes = Axes("n", title, 210, percent=percent, legend=False)
    return line_chart([line], axes, theme=theme(), y_range=(0.0, float(max(values.max(), 1.0))))


def _perplexities(measured: HeldOut, at: Counting) -> None:
    """Against n and against δ, on one scale."""
    models = {
        f"add-δ, δ = {at.smoothing.delta:g}": Smoothing("add-δ", delta=at.smoothing.delta),
        f"λ = {at.smoothing.share:g}": Smoothing("interpolation", share=at.smoothing.share),
        "Kneser–Ney": Smoothing("Kneser–Ney"),
    }
    by_n = {name: perplexity(measured, smoothing) for name, smoothing in models.items()}
    table = np.array([perplexity(measured, Smoothing("add-δ", delta=delta)) for delta in DELTAS])
    by_delta = {f"n = {n + 1}": table[:, n] for n in range(LONGEST)}
    powers = np.log10(np.concatenate([*by_n.values(), table.ravel()]))
    ends = 10.0 ** np.floor(powers.min()), 10.0 ** np.ceil(powers.max())

    def drawn(values: dict[str, Array], x: Array, title: str, said: Callable[[float], str]) -> Chart:
        points = {name: (x, y) for name, y in values.items()}
        axes = Axes(title, "perplexity", 240, log=True)
        return curves(
            points, axes, lambda name, at, y: f"{name}, {said(at)}: {y:,.0f}", theme=theme(), dot=90, y_range=ends
        )

    left, right = st.columns(2)
    with left:
        chart = drawn(by_n, np.arange(1.0, LONGEST + 1), "n", "n = {:.0f}".format)
        show("perplexity_n", chart, title="How well are held-out sentences predicted?")
    with right:
        chart = drawn(by_delta, np.log10(DELTAS), "log₁₀ δ", lambda x: f"δ = {10**x:.3g}")
        show("perplexity_delta", chart, title="The same for add-δ: for long n-grams no δ works well.")


@shared
def perplexity(measured: HeldOut, smoothing: Smoothing) -> Array:
    return measured.perplexity(smoothing)
