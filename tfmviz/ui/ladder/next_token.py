"""What each model expects next, and how much every token of the text surprises it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.plots import ladder as figures
from tfmviz.ui import controls, icons
from tfmviz.ui.cache import read_json
from tfmviz.ui.figures import show
from tfmviz.ui.ladder import rungs
from tfmviz.ui.ladder.rungs import TITLES, Reading
from tfmviz.ui.lesson import Lesson
from tfmviz.views.bars import Bars
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible, whole
from tfmviz.words.numbers import decimal

BARS = 6

SHOWN = 8
"""Tokens before the chosen place that are quoted."""


def next_token(here: Lesson) -> None:
    """Surprise at every token for the four models, then what each expected at the chosen one."""
    reading = rungs.read(rungs.ladder(), here.text)
    tokens = reading.text.tokens
    chosen = controls.pinned()
    place = len(tokens) if not chosen else min(chosen, len(tokens))
    bits = np.concatenate((reading.bits, np.full((len(TITLES), 1), np.nan)), axis=1)
    show(
        "surprise",
        figures.surprise(bits, models=tuple(TITLES.values()), tokens=(*tokens[1:], "…"), chosen=place - 1),
        alt=_said(reading),
        click="shows what was expected there",
        on_pick=lambda _, column: controls.pin(column + 1),
    )
    _expected(reading, place)
    _table(reading)


def _said(reading: Reading) -> str:
    if not reading.bits.size:
        return "One token: nothing was predicted."
    means = zip(TITLES.values(), reading.bits.mean(axis=1), strict=True)
    return "Mean surprise in bits: " + "; ".join(f"{title} {decimal(mean, '.1f')}" for title, mean in means)


def _expected(reading: Reading, place: int) -> None:
    tokens = reading.text.tokens
    begin = reading.text.offsets[max(0, place - SHOWN)][0]
    before = whole(reading.text.text[begin : reading.text.offsets[place - 1][1]].strip())
    dots = "…" if place > SHOWN else ""
    came = f" The text has {markdown.plain(quoted(tokens)[place])}." if place < len(tokens) else ""
    st.markdown(f"What does each expect after “{dots}{markdown.plain(before)}”?{came}")
    vocabulary = rungs.ladder().transformer.vocabulary
    columns = st.columns(len(TITLES))
    for index, (title, p) in enumerate(zip(TITLES.values(), reading.p[:, place - 1], strict=True)):
        with columns[index]:
            best = np.argsort(-p, kind="stable")[:BARS]
            st.markdown(f"**{title}**")
            show(
                f"expected_{index}",
                Bars(labels=[visible(vocabulary[token]) for token in best.tolist()], shares=[p[best].tolist()]),
            )


def _table(reading: Reading) -> None:
    rows = []
    for (name, title), bits in zip(TITLES.items(), reading.bits, strict=True):
        facts = rungs.measured()["models"][name]
        own = decimal(bits.sum() / reading.n_bytes, ".2f") if bits.size else "–"
        rows.append(f"| {title} | {facts['n_parameters']:,} | {facts['bits_per_byte']:.3f} | {own} |")
    st.markdown(
        "| model | trained numbers | held-out text, bits per byte | your text, bits per byte |\n|---|---|---|---|\n"
        + "\n".join(rows)
    )
    counted = read_json(rungs.FOLDER / "counted.json")
    st.caption(
        f"With all {counted['all_numbers']:,} numbers of its counts the 5-gram model reaches "
        f"{counted['all_bits_per_byte']:.3f}."
    )
    if not reading.bits.size:
        st.info("Type at least two tokens.", icon=icons.INFO)
