"""Two sentences by the same n-grams: the probability of every word, and of all."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from tfmviz.analysis.side_by_side import parting
from tfmviz.counting.chain import log_probabilities
from tfmviz.counting.words import sentences_of, words_of
from tfmviz.ui import sides as both
from tfmviz.ui.beside import What
from tfmviz.ui.boxes import marked
from tfmviz.ui.counting.choices import Counting
from tfmviz.ui.figures import result
from tfmviz.words import markdown
from tfmviz.words.numbers import of_logarithm, rounded

OPTIONS: tuple[What, ...] = ("another sentence",)


def side_by_side(at: Counting, other: str) -> None:
    """Both texts word by word, and their products."""
    lines = [sentences_of(text) for text in (at.typed, other)]
    names = [[word.name for line in text for word in words_of(line)] for text in lines]
    if not all(names):
        st.markdown("A text without a word has no probability.")
        return
    logs = [log_probabilities(at.text, text, at.smoothing, n=at.n) for text in lines]
    where = parting(*names)
    a, b = (_product(float(values.sum())) for values in logs)
    result(f"By {at.n}-grams A has {a}, B {b}. {_where(names, where)}")
    pieces = [marked(words, where, [_factor(p) for p in values]) for words, values in zip(names, logs, strict=True)]
    both.show_rows("AB", (a, b), pieces, "the words, each given those before it")


def _where(names: list[list[str]], where: int | None) -> str:
    if where is None:
        return "Both are the same." if names[0] == names[1] else "One goes on where the other ends."
    a, b = (markdown.plain(words[where]) for words in names)
    return f"They part at word {where + 1}: “{a}” and “{b}”."


def _product(log: float) -> str:
    return "no probability (0/0)" if math.isnan(log) else f"probability {of_logarithm(log)}"


def _factor(log: np.floating) -> str:
    return "0/0" if math.isnan(log) else rounded(math.exp(log))
