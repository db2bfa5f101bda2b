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
    _perplexities(measured, at)
    st.markdown(
        f"Perplexity p over {measured.counts.shape[1]:,} held-out tokens: as hard as choosing among p words. "
        "Without smoothing, or with back-off alone, it is infinite."
    )


def _unseen(shares: Array) -> None:
    show(
        "never_seen",
        figures.by_length(shares, title="never seen", said=per_cent, percent=True, theme=theme()),
        title="How many held-out n-grams never occur in the counted text?",
    )


def _sizes(sizes: Array, vocab_size: int) -> None:
    show(
        "table_size",
        figures.by_length(sizes, title="rows of the table", said=lambda v: f"{v:,.0f}", theme=theme()),
        title=f"Of {vocab_size:,}ⁿ possible n-grams a text has no more than words.",
    )


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
    left, right = st.columns(2)
    with left:
        show(
            "perplexity_n",
            figures.perplexities(
                by_n, range(1, LONGEST + 1), title="n", said="n = {:.0f}".format, ends=ends, theme=theme()
            ),
            title="How well are held-out sentences predicted?",
        )
    with right:
        show(
            "perplexity_delta",
            figures.perplexities(
                by_delta,
                [math.log10(delta) for delta in DELTAS],
                title="log₁₀ δ",
                said=lambda x: f"δ = {10**x:.3g}",
                ends=ends,
                theme=theme(),
            ),
            title="The same for add-δ: for long n-grams no δ is good.",
        )


@shared
def perplexity(measured: HeldOut, smoothing: Smoothing) -> Array:
    return measured.perplexity(smoothing)
