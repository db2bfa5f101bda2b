"""The lectures' tables of published results: translation, summaries, sizes of known models."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.parameters import PUBLISHED, counts
from tfmviz.constants import NO_NUMBER
from tfmviz.ui import inputs, lesson
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

TRAINED = Table(
    caption="What known models were trained on",
    columns=("model", "layers × width, heads", "context", "batch", "data", "hardware", "source"),
    rows=(
        (
            "Transformer base",
            "6 + 6 × 512, 8",
            NONE,
            "25,000 + 25,000 tokens",
            "4.5 million pairs of sentences (En–De)",
            "8 P100, 12 hours",
            "Vaswani et al. 2017",
        ),
        (
            "Transformer big",
            "6 + 6 × 1,024, 16",
            NONE,
            "25,000 + 25,000 tokens",
            "4.5 million pairs of sentences (En–De)",
            "8 P100, 3.5 days",
            "Vaswani et al. 2017",
        ),
        ("GPT", "12 × 768, 12", "512", "64 texts", "BooksCorpus", NONE, "Radford et al. 2018"),
        (
            "BERT large",
            "24 × 1,024, 16",
            "512",
            "256 texts",
            "BooksCorpus and Wikipedia, 3.3 billion words",
            "64 TPU chips, 4 days",
            "Devlin et al. 2019",
        ),
        ("GPT-2", "48 × 1,600", "1,024", "512 texts", "WebText, 40 GB", NONE, "Radford et al. 2019"),
        (
            "XLNet large",
            "24 × 1,024, 16",
            "512",
            "8,192 texts",
            "32.9 billion tokens",
            "512 TPU v3 chips, 5.5 days",
            "Yang et al. 2019",
        ),
        (
            "RoBERTa large",
            "24 × 1,024, 16",
            "512",
            "8,000 texts",
            "160 GB of text",
            "1,024 V100, about a day for 100,000 steps",
            "Liu et al. 2019",
        ),
        (
            "Megatron-LM, 8.3 billion",
            "72 × 3,072",
            "1,024",
            "512 texts",
            "174 GB of text",
            "512 V100, 2.1 days an epoch",
            "Shoeybi et al. 2019",
        ),
        (
            "T5, 11 billion",
            "24 + 24 × 1,024, 128",
            "512",
            "2,048 texts",
            "C4, about 750 GB out of Common Crawl",
            "TPU pods",
            "Raffel et al. 2020",
        ),
        (
            "Turing-NLG, 17 billion",
            "78 × 4,256, 28",
            "1,024",
            "512 texts",
            NONE,
            "V100, four for each copy",
            "Rosset 2020 (Microsoft)",
        ),
        (
            "GPT-3",
            "96 × 12,288, 96",
            "2,048",
            "3.2 million tokens",
            "300 billion tokens, 60% of Common Crawl",
            "V100",
            "Brown et al. 2020",
        ),
    ),
    about="–: not said, or no limit.",
)

WORDS = {
    "translation": "Into German, the base model beats every ensemble at less than a twentieth of its training cost. "
    "Into French, only the big model wins.",
    "summaries": "A decoder alone reads eight times as much text and predicts better.",
    "training": "From 2017 to 2020 the design hardly changes; models grow from 65 million to 175 billion parameters.",
    "sizes": "“Exact” is counted from the sizes in the paper.",
}


def tables() -> None:
    with lesson.line("results"):
        name = inputs.segmented_control("Results", list(WORDS), default="translation", key="results")
    name = name or "translation"
    show(
        "result_table", {"translation": TRANSLATION, "summaries": SUMMARIES, "training": TRAINED}.get(name) or _sizes()
    )
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
