"""What each model expects next, and how much every token of the text surprises it."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from tfmviz.plots.cells import Axis, Cells, Form, amounts, chosen_column, of_tokens, probability, written
from tfmviz.text.tokenizer import END
from tfmviz.ui import controls, icons
from tfmviz.ui.cache import read_json
from tfmviz.ui.figures import show
from tfmviz.ui.ladder import rungs
from tfmviz.ui.ladder.rungs import TITLES, Reading
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, whole
from tfmviz.words.numbers import decimal

BEST = 4
"""Words of each model that are shown for all."""

ROWS = Axis("", tuple(TITLES.values()), [f"{title} model" for title in TITLES.values()])

SHOWN = 8
"""Tokens before the chosen place that are quoted."""


def next_token(here: Lesson) -> None:
    """Surprise at every token for the four models, then what each expected at the chosen one."""
    reading = rungs.read(rungs.ladder(), here.text)
    tokens = reading.text.tokens
    chosen = controls.pinned()
    place = len(tokens) if not chosen else min(chosen, len(tokens))
    bits = np.concatenate((reading.bits, np.full((len(TITLES), 1), np.nan)), axis=1)
    columns = of_tokens("token", (*tokens[1:], "⟨next⟩"))
    look: dict[str, Any] = {"texts": written(bits, ".0f"), "frames": chosen_column(place - 1, len(bits))}
    scale, form = amounts(bits, "surprise −log₂ p, bits"), Form(digits=1, unit=" bits")
    show(
        "surprise",
        Cells(bits[None], ROWS, columns, scale, form=form, **look),
        click="see what was expected there",
        on_pick=lambda _, column: controls.pin(column + 1),
    )
    _expected(reading, place)
    _table(reading)


def _expected(reading: Reading, place: int) -> None:
    tokens = reading.text.tokens
    begin = reading.text.offsets[max(0, place - SHOWN)][0]
    before = whole(reading.text.text[begin : reading.text.offsets[place - 1][1]].strip())
    dots = "…" if place > SHOWN else ""
    came = f" The text has {markdown.plain(quoted(tokens)[place])}." if place < len(tokens) else ""
    st.markdown(f"What does each expect after “{dots}{markdown.plain(before)}”?{came}")
    vocabulary = rungs.ladder().transformer.vocabulary
    p = reading.p[:, place - 1]  # (model, vocab)
    best = np.unique(np.argsort(-p, axis=1, kind="stable")[:, :BEST])
    best = best[np.argsort(-p[:, best].mean(axis=0), kind="stable")]
    names = ["⟨end⟩" if n == END else vocabulary[n] for n in best.tolist()]
    p, scale, form = p[:, best], probability("probability of the next token"), Form(digits=1, percent=True)
    texts = [[f"{100 * share:.0f}%" if share >= 0.005 else "·" for share in row] for row in p.tolist()]
    show("expected", Cells(p[None], ROWS, of_tokens("next token", names), scale, form=form, texts=texts))


def _table(reading: Reading) -> None:
    rows = []
    for (name, title), bits in zip(TITLES.items(), reading.bits, strict=True):
        facts = rungs.measured()["models"][name]
        own = decimal(bits.sum() / reading.n_bytes, ".2f") if bits.size else "–"
        rows.append([title, f"{facts['n_parameters']:,}", f"{facts['bits_per_byte']:.3f}", own])
    columns = ["model", "parameters", "held-out text, bits per byte", "your text, bits per byte"]
    show("table", Table(caption="The four models.", columns=columns, rows=rows))
    counted = read_json(rungs.FOLDER / "counted.json")
    st.caption(
        f"With all its {counted['all_numbers']:,} counts, the 5-gram model reaches {counted['all_bits_per_byte']:.3f}."
    )
    if not reading.bits.size:
        st.info("Type at least two tokens.", icon=icons.INFO)
