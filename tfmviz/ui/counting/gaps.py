"""How much a text does not contain: n-grams never seen, the size of the table, and what smoothing is worth."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from tfmviz.counting.smoothing import LONGEST, HeldOut, Smoothing
from tfmviz.plots import counting as figures
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
        st.info("These charts measure the app's own text, of which a part is held out.", icon=icons.INFO)
    text = choices.shipped_text()
    with st.spinner("Measuring on held-out sentences…"):
        measured = choices.measured()
    sizes, unseen = np.array([len(grams.keys) for grams in text.grams], dtype=float), measured.never_seen()
    left, right = st.columns(2)
    with left:
        _unseen(unseen)
    with right:
        _sizes(sizes, text.vocab_size)
    left, right = st.columns(2)
    with left:
        _against_n(measured, at)
    with right:
        _against_delta(measured)
    st.markdown(
        f"Perplexity p over {measured.counts.shape[1]:,} held-out tokens: as hard as choosing among p words. "
        "Without smoothing, or with back-off alone, it is infinite."
    )


def _unseen(shares: Array) -> None:
    st.markdown("How many held-out n-grams never occur in the counted text?")
    show(
        "never_seen",
        figures.by_length(shares, title="never seen", said=per_cent, theme=theme()),
        alt="Never seen: " + "; ".join(f"n = {n}: {per_cent(s)}" for n, s in enumerate(shares, start=1)),
    )


def _sizes(sizes: Array, vocab_size: int) -> None:
    st.markdown(f"Of {vocab_size:,}ⁿ possible n-grams a text has no more than words.")
    show(
        "table_size",
        figures.by_length(sizes, title="rows of the table", said=lambda v: f"{v:,.0f}", theme=theme()),
        alt="Rows of the table: " + "; ".join(f"n = {n}: {s:,.0f}" for n, s in enumerate(sizes, start=1)),
    )


def _against_n(measured: HeldOut, at: Counting) -> None:
    models = {
        f"add-δ, δ = {at.smoothing.delta:g}": Smoothing("add-δ", delta=at.smoothing.delta),
        f"interpolation, λ = {at.smoothing.share:g}": Smoothing("interpolation", share=at.smoothing.share),
        "Kneser–Ney": Smoothing("Kneser–Ney"),
    }
    values = {name: perplexity(measured, smoothing) for name, smoothing in models.items()}
    st.markdown("How well are held-out sentences predicted?")
    show(
        "perplexity_n",
        figures.perplexities(values, range(1, LONGEST + 1), title="n", said=lambda n: f"n = {n:.0f}", theme=theme()),
        alt="Perplexity for n = 1 to 5: "
        + "; ".join(f"{name}: " + ", ".join(f"{value:,.0f}" for value in y) for name, y in values.items()),
    )


def _against_delta(measured: HeldOut) -> None:
    table = np.array([perplexity(measured, Smoothing("add-δ", delta=delta)) for delta in DELTAS])
    values = {f"n = {n + 1}": table[:, n] for n in range(LONGEST)}
    best = {name: DELTAS[int(y.argmin())] for name, y in values.items()}
    st.markdown("The same for add-δ: for long n-grams no δ is good.")
    show(
        "perplexity_delta",
        figures.perplexities(
            values,
            [math.log10(delta) for delta in DELTAS],
            title="log₁₀ δ",
            said=lambda x: f"δ = {10**x:.3g}",
            theme=theme(),
        ),
        alt="Best δ and its perplexity: "
        + "; ".join(f"{name}: δ = {best[name]:g}, {y.min():,.0f}" for name, y in values.items()),
    )


@shared
def perplexity(measured: HeldOut, smoothing: Smoothing) -> Array:
    return measured.perplexity(smoothing)
