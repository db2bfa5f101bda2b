from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.side_by_side import parting
from tfmviz.counting.chain import Factor, factors, log_probabilities
from tfmviz.counting.smoothing import LONGEST, HeldOut, Smoothing
from tfmviz.counting.words import sentences_of, words_of
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, Line, Stroke, curves, line_chart
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import END
from tfmviz.ui import counting, icons, models
from tfmviz.ui import head_comparison as both
from tfmviz.ui.boxes import marked
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.counting import DELTAS, Counting
from tfmviz.ui.figures import result, show, show_pairs, show_table, theme
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, of_logarithm, per_cent, rounded


def gaps(at: Counting) -> None:
    if at.is_own:
        st.info("These charts use the app's own text, part of which is held out.", icon=icons.INFO)
    text = counting.shipped_text()
    with st.spinner("Measuring on held-out sentences…"):
        measured = counting.measured()
    sizes, unseen = np.array([len(grams.keys) for grams in text.grams], dtype=float), measured.never_seen()
    left, right = st.columns(2)
    with left:
        show(
            "never_seen",
            _by_length(unseen, "never seen", per_cent, percent=True),
            title="How many held-out n-grams never occur in the counted text?",
        )
    with right:
        show(
            "table_size",
            _by_length(sizes, "rows of the table", "{:,.0f}".format),
            title=f"Of {text.vocab_size:,}ⁿ possible n-grams, a text contains at most one per word.",
        )
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

    def drawn(values: dict[str, Array], x: Array, title: str, tooltips: Callable[[float], str]) -> Chart:
        points = {name: (x, y) for name, y in values.items()}
        axes = Axes(title, "perplexity", 240, log=True)
        return curves(
            points, axes, lambda name, at, y: f"{name}, {tooltips(at)}: {y:,.0f}", theme=theme(), dot=90, y_range=ends
        )

    left, right = st.columns(2)
    with left:
        chart = drawn(by_n, np.arange(1.0, LONGEST + 1), "n", "n = {:.0f}".format)
        show("perplexity_n", chart, title="How well are held-out sentences predicted?")
    with right:
        chart = drawn(by_delta, np.log10(DELTAS), "log₁₀ δ", lambda x: f"δ = {10**x:.3g}")
        show("perplexity_delta", chart, title="The same for add-δ: for long n-grams no δ works well.")
    st.markdown(
        f"A perplexity of p over {measured.counts.shape[1]:,} held-out tokens is as hard as choosing among p words. "
        "Without smoothing, or with back-off alone, it is infinite."
    )


def _by_length(values: Array, title: str, tooltips: Callable[[float], str], *, percent: bool = False) -> Chart:
    at = np.arange(1.0, len(values) + 1)
    line = Line(title, at, values, Stroke(theme().plain, dot=120), lambda n, value: f"n = {n:.0f}: {tooltips(value)}")
    axes = Axes("n", title, 210, percent=percent, legend=False)
    return line_chart([line], axes, theme=theme(), y_range=(0.0, float(max(values.max(), 1.0))))


@cached_for_all
def perplexity(measured: HeldOut, smoothing: Smoothing) -> Array:
    return measured.perplexity(smoothing)


MODEL = "tiny-english"

MOST_FACTORS = 30
"""Factors that are shown; the product is over all."""


def chain(at: Counting) -> None:
    if (model := models.needed(MODEL)) is None:
        return
    read, ends = _transformer(model, at.typed)
    counted = log_probabilities(at.text, sentences_of(at.typed), at.smoothing, n=at.n)
    if not (found := factors(at.typed, counted, read, ends)):
        st.info("The two models split this text nowhere at the same place. Type a word.", icon=icons.INFO)
        return
    one, other = (math.fsum(values) for values in zip(*((f.one, f.other) for f in found), strict=True))
    sentence = (
        "undefined, because one factor is 0/0"
        if math.isnan(one)
        else "0, because one factor is 0"
        if one == -math.inf
        else _both(one)
    )
    of = f"The product of the {len(found)} factors" if len(found) > 1 else "The only factor"
    result(
        f"{of}, with smoothing “{at.smoothing.method}”: **{sentence}** by counting, **{_both(other)}** by {MODEL}, "
        "which was trained on other texts."
    )
    if ends[-1] < len(at.typed.rstrip()):
        st.info(f"{MODEL} reads {len(ends)} tokens at a time, so both products end there.", icon=icons.CUT)
    names = [factor.name for factor in found[:MOST_FACTORS]]
    ours, theirs = (-np.array(values) for values in zip(*((f.one, f.other) for f in found[:MOST_FACTORS]), strict=True))
    instead = ["0/0" if np.isnan(value) else "∞" for value in ours]
    show_pairs(
        "chain",
        names,
        np.where(np.isfinite(ours), ours, np.nan),
        theirs,
        series=(f"{at.n}-gram", MODEL),
        title="−log P, nats",
        token_title="word",
        names=quoted(names, of="word", first=1),
        instead=(instead, instead),
    )
    show_table(
        "factors",
        caption="P(w₁ w₂ …) = P(w₁ | ⟨s⟩) · P(w₂ | ⟨s⟩ w₁) · P(w₃ | ⟨s⟩ w₁ w₂) · …",
        columns=("word", f"{at.n}-gram", MODEL, "its tokens"),
        rows=[_row(factor) for factor in found[:MOST_FACTORS]],
        about=f"The first {MOST_FACTORS} of {len(found)} factors." if len(found) > MOST_FACTORS else "",
    )


@cached_for_all
def _transformer(model: Model, text: str) -> tuple[Array, tuple[int, ...]]:
    """ln P of each token given all before it, and the character behind each."""
    encoding = model.tokenizer.encode(text, max_len=model.config.max_len - 1)
    ids = (END, *encoding.ids)
    shifted = zoo.experiments.logits(model, ids[:-1])  # (place, vocab)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    chosen = shifted[np.arange(len(encoding)), encoding.ids].astype(np.float64)
    total = np.exp(shifted, out=shifted).sum(axis=-1, dtype=np.float64)
    return chosen - np.log(total), tuple(end for _, end in encoding.offsets)


def _both(log: float) -> str:
    return f"{of_logarithm(log)} ({decimal(-log, '.1f')} nats)"


def _row(factor: Factor) -> tuple[str, ...]:
    one = "0/0" if math.isnan(factor.one) else rounded(math.exp(factor.one))
    return visible(factor.name), one, rounded(math.exp(factor.other)), str(factor.n_tokens)


def apart(at: Counting, compared: HeadComparison) -> None:
    lines = [sentences_of(text) for text in (lesson.text for lesson in compared.lessons)]
    names = [[word.name for line in text for word in words_of(line)] for text in lines]
    if not all(names):
        st.markdown("A text without a word has no probability.")
        return
    logs = [log_probabilities(at.text, text, at.smoothing, n=at.n) for text in lines]
    where = parting(*names)
    totals = [float(values.sum()) for values in logs]
    a, b = ("no probability (0/0)" if math.isnan(log) else f"probability {of_logarithm(log)}" for log in totals)
    st.markdown(f"By {at.n}-grams A has {a}, B {b}. {_where(names, where)}")
    pieces = [
        marked(words, where, [("0/0" if math.isnan(p) else rounded(math.exp(p))) for p in values])
        for words, values in zip(names, logs, strict=True)
    ]
    both.show_rows("AB", (a, b), pieces, "the words, each given those before it")


def _where(names: list[list[str]], where: int | None) -> str:
    if where is None:
        return "Both are the same." if names[0] == names[1] else "One continues where the other ends."
    a, b = (markdown.plain(words[where]) for words in names)
    return f"They diverge at word {where + 1}: “{a}” and “{b}”."
