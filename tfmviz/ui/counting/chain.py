"""The probability of the whole typed text, factor by factor: counting beside a transformer."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.side_by_side import parting
from tfmviz.counting.chain import Factor, factors, log_probabilities
from tfmviz.counting.words import sentences_of, words_of
from tfmviz.plots.pairs import pairs
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import END
from tfmviz.ui import icons, models
from tfmviz.ui import sides as both
from tfmviz.ui.boxes import marked
from tfmviz.ui.cache import shared
from tfmviz.ui.counting.choices import Counting
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.sides import Sides
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, of_logarithm, rounded

MODEL = "tiny-english"

MOST = 30
"""Factors that are shown; the product is over all."""


def chain(at: Counting) -> None:
    """Every factor of both models, and the two products."""
    model = models.needed(MODEL)
    if model is None:
        return
    read, ends = _transformer(model, at.typed)
    counted = log_probabilities(at.text, sentences_of(at.typed), at.smoothing, n=at.n)
    found = factors(at.typed, counted, read, ends)
    if not found:
        st.info("The two models split this text nowhere at the same place. Type a word.", icon=icons.INFO)
        return
    _products(at, found)
    if ends[-1] < len(at.typed.rstrip()):
        st.info(f"{MODEL} reads {len(ends)} tokens at a time, so both products end there.", icon=icons.CUT)
    _figure(found[:MOST], at)
    show(
        "factors",
        Table(
            caption="P(w₁ w₂ …) = P(w₁ | ⟨s⟩) · P(w₂ | ⟨s⟩ w₁) · P(w₃ | ⟨s⟩ w₁ w₂) · …",
            columns=("word", f"{at.n}-gram", MODEL, "its tokens"),
            rows=[_row(factor) for factor in found[:MOST]],
            about=f"The first {MOST} of {len(found)} factors." if len(found) > MOST else "",
        ),
    )


@shared
def _transformer(model: Model, text: str) -> tuple[Array, tuple[int, ...]]:
    """log P in nats of each token given all before it, and the character behind each. The text begins a document."""
    encoding = model.tokenizer.encode(text, max_len=model.config.max_len - 1)
    ids = (END, *encoding.ids)
    shifted = zoo.experiments.logits(model, ids[:-1])  # (place, vocab)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    said = shifted[np.arange(len(encoding)), encoding.ids].astype(np.float64)
    total = np.exp(shifted, out=shifted).sum(axis=-1, dtype=np.float64)
    return said - np.log(total), tuple(end for _, end in encoding.offsets)


def _products(at: Counting, found: list[Factor]) -> None:
    one, other = (math.fsum(values) for values in zip(*((f.one, f.other) for f in found), strict=True))
    said = (
        "undefined, because one factor is 0/0"
        if math.isnan(one)
        else "0, because one factor is 0"
        if one == -math.inf
        else _both(one)
    )
    of = f"The product of the {len(found)} factors" if len(found) > 1 else "The only factor"
    result(
        f"{of}, with smoothing “{at.smoothing.method}”: **{said}** by counting, **{_both(other)}** by {MODEL}, which "
        "was trained on other texts."
    )


def _both(log: float) -> str:
    return f"{of_logarithm(log)} ({decimal(-log, '.1f')} nats)"


def _figure(found: list[Factor], at: Counting) -> None:
    names = [factor.name for factor in found]
    one, other = (-np.array(values) for values in zip(*((f.one, f.other) for f in found), strict=True))
    instead = ["0/0" if np.isnan(value) else "∞" for value in one]
    show(
        "chain",
        pairs(
            names,
            np.where(np.isfinite(one), one, np.nan),
            other,
            series=(f"{at.n}-gram", MODEL),
            title="−log P, nats",
            token_title="word",
            names=quoted(names, of="word", first=1),
            instead=(instead, instead),
            theme=theme(),
        ),
    )


def _row(factor: Factor) -> tuple[str, ...]:
    one = "0/0" if math.isnan(factor.one) else rounded(math.exp(factor.one))
    return visible(factor.name), one, rounded(math.exp(factor.other)), str(factor.n_tokens)


def apart(at: Counting, compared: Sides) -> None:
    """Both texts word by word, their products, and where the texts part."""
    lines = [sentences_of(text) for text in (lesson.text for lesson in compared.lessons)]
    names = [[word.name for line in text for word in words_of(line)] for text in lines]
    if not all(names):
        st.markdown("A text without a word has no probability.")
        return
    logs = [log_probabilities(at.text, text, at.smoothing, n=at.n) for text in lines]
    where = parting(*names)
    a, b = (_product(float(values.sum())) for values in logs)
    st.markdown(f"By {at.n}-grams A has {a}, B {b}. {_where(names, where)}")
    pieces = [marked(words, where, [_factor(p) for p in values]) for words, values in zip(names, logs, strict=True)]
    both.show_rows("AB", (a, b), pieces, "the words, each given those before it")


def _where(names: list[list[str]], where: int | None) -> str:
    if where is None:
        return "Both are the same." if names[0] == names[1] else "One continues where the other ends."
    a, b = (markdown.plain(words[where]) for words in names)
    return f"They diverge at word {where + 1}: “{a}” and “{b}”."


def _product(log: float) -> str:
    return "no probability (0/0)" if math.isnan(log) else f"probability {of_logarithm(log)}"


def _factor(log: np.floating) -> str:
    return "0/0" if math.isnan(log) else rounded(math.exp(log))
