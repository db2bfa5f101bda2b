"""The lectures' tables of published results: translation, summaries, sizes of known models."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.parameters import PUBLISHED, counts
from tfmviz.constants import NO_NUMBER
from tfmviz.ui import lesson
from tfmviz.ui.figures import show
from tfmviz.views.counts import Table
from tfmviz.words.numbers import in_words

NONE = NO_NUMBER

ENSEMBLE = "ensemble average"

TRANSLATION = Table(
    caption="WMT 2014, newstest2014: BLEU and training operations",
    columns=("model", "BLEU, En–De", "BLEU, En–Fr", "operations, En–De", "operations, En–Fr", "what was new"),
    rows=(
        ("ByteNet", "23.75", NONE, NONE, NONE, "dilated convolutions, no attention"),
        ("Deep-Att + PosUnk", NONE, "39.2", NONE, "1.0·10²⁰", "deep LSTMs, with attention"),
        (
            "GNMT + RL",
            "24.6",
            "39.92",
            "2.3·10¹⁹",
            "1.4·10²⁰",
            "subwords, residual connections, a sentence-level reward",
        ),
        ("ConvS2S", "25.16", "40.46", "9.6·10¹⁸", "1.5·10²⁰", "convolutions, attention in every layer"),
        ("mixture of experts", "26.03", "40.56", "2.0·10¹⁹", "1.2·10²⁰", "GNMT with mixture-of-experts layers"),
        ("Deep-Att + PosUnk, ensemble", NONE, "40.4", NONE, "8.0·10²⁰", ENSEMBLE),
        ("GNMT + RL, ensemble", "26.30", "41.16", "1.8·10²⁰", "1.1·10²¹", ENSEMBLE),
        ("ConvS2S, ensemble", "26.36", "41.29", "7.7·10¹⁹", "1.2·10²¹", ENSEMBLE),
        ("Transformer base", "27.3", "38.1", "3.3·10¹⁸", "3.3·10¹⁸", "attention alone"),
        ("Transformer big", "28.4", "41.8", "2.3·10¹⁹", "2.3·10¹⁹", "three times the parameters"),
    ),
    sortable=True,
    about="Vaswani et al. 2017, table 2.",
)

SUMMARIES = Table(
    caption="Writing the beginning of a Wikipedia article",
    columns=("model", "input, tokens", "perplexity", "ROUGE-L"),
    rows=(
        ("recurrent, with attention", "500", "5.05", "12.7"),
        ("Transformer, encoder and decoder", "500", "2.47", "34.2"),
        ("Transformer, decoder only", "4,000", "2.22", "33.6"),
        ("the same, compressed attention", "11,000", "2.05", "36.2"),
        ("and 128 experts", "11,000", "1.93", "37.9"),
        ("and 256 experts", "7,500", "1.90", "38.8"),
    ),
    sortable=True,
    about="Liu et al. 2018, table 4.",
)

WORDS = {
    "translation": "Into German, the base model beats every ensemble at less than a twentieth of its training cost. "
    "Into French, only the big model wins.",
    "summaries": "A decoder alone reads eight times as much text and predicts better.",
    "sizes": "“Exact” is counted from the sizes in the paper.",
}


def tables() -> None:
    with lesson.line("results"):
        name = st.segmented_control("Results", list(WORDS), default="translation", key="results", bind="query-params")
    name = name or "translation"
    show("result_table", {"translation": TRANSLATION, "summaries": SUMMARIES}.get(name) or _sizes())
    st.markdown(WORDS[name])


def _sizes() -> Table:
    """Parameters of known models: counted, and as their authors give them."""
    return Table(
        caption="Parameters of known models",
        columns=("model", "d_model", "layers", "exact", "authors"),
        rows=[
            (
                name,
                f"{known.design.d_model:,}",
                str(known.design.n_layers),
                f"{sum(counts(known.design).values()):,}",
                f"{in_words(known.said)} ({known.source})",
            )
            for name, known in PUBLISHED.items()
        ],
        sortable=True,
    )
