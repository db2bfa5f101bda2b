"""Merges replayed one by one on a word, from the tokenizer's own list."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import streamlit as st

from tfmviz.record.model import Model
from tfmviz.text import bpe
from tfmviz.text.bpe import Merge, Pair
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.boxes import show_boxes, spelled
from tfmviz.ui.lesson import Lesson
from tfmviz.views.pieces import Kind, Piece, Row

OURS = "tiny-english"
"""Whose merges are shown where the chosen model has no list of them."""

LONGEST = 60
"""Bytes of a word that are replayed: more steps than that teach nothing."""


def model_with_merges(here: Lesson) -> Model | None:
    """The chosen model if its tokenizer merges bytes, else one that does; the page says so."""
    merges = here.model.tokenizer.ranks is not None
    there = lesson.stand_in(here, "a model that cuts words by merging bytes", fits=merges, instead=OURS)
    return None if there is None else there.model


def replay(here: Lesson) -> None:
    """Every step from the bytes of a word to its tokens."""
    model = model_with_merges(here)
    words = [] if model is None else [word for word, _ in bpe.words_of(model.tokenizer.spelled(here.text))]
    if model is None or not words:
        return
    ranks = model.tokenizer.ranks
    assert ranks is not None
    with lesson.line("merges"):
        whole = _choose(words)
        word = whole[:LONGEST]
        steps = list(bpe.merges(word, ranks))
        shown = len(steps)
        if steps:
            shown = inputs.slider("Merges", 0, len(steps), len(steps), key="merges_shown")
    if len(whole) > LONGEST:
        st.info(f"Only the first {LONGEST} of the word's {len(whole)} bytes are merged here.", icon=icons.CUT)
    show_boxes(
        _rows(word, steps, shown, ranks, is_whole=word == whole),
        key="merges",
        caption="",
        titles=("step", "priority", "the symbols, each with its pair's priority underneath"),
    )
    st.markdown(
        f"The list has {len(ranks):,} merges in the order learned; the lowest number is merged next (framed). A "
        "dash marks a pair that was never learned."
    )


def _choose(words: list[str]) -> str:
    """Asks for a word; the page opens with the longest."""
    longest = max(range(len(words)), key=lambda n: (len(words[n]), -n))
    return words[
        inputs.selectbox(
            "Word",
            range(len(words)),
            index=longest,
            format_func=lambda n: f"{n}  {''.join(spelled(c).text for c in words[n][:LONGEST])}",
            key="merged",
            width=260,
        )
    ]


def _rows(word: str, steps: list[Merge], shown: int, ranks: Mapping[Pair, int], *, is_whole: bool) -> list[Row]:
    """A row before every step, and one for what is left after the last that is shown.

    The end of a word that was cut may belong to a longer token, so only those of a whole one are called tokens.
    """
    rows = []
    new = -1  # place of the symbol that the step before has made
    for n, step in enumerate(steps[:shown]):
        best = step.ranks[step.place]
        symbols = _boxes(step.symbols, step.ranks, place=step.place, new=new)
        rows.append(Row("bytes" if n == 0 else f"after {n}", f"next: {best:,}", symbols))
        new = step.place
    last = bpe.after(word, steps[:shown])
    found = tuple(ranks.get(pair) for pair in pairwise(last))
    finished = shown == len(steps)
    name = "tokens" if finished and is_whole else "bytes" if shown == 0 else f"after {shown}"
    rows.append(Row(name, "none left" if finished else "", _boxes(last, found, place=-1, new=new)))
    return rows


def _boxes(symbols: tuple[str, ...], ranks: tuple[int | None, ...], *, place: int, new: int) -> list[Piece]:
    """The symbols with the priority of each pair below its first; none below the last."""
    boxes = []
    for n, symbol in enumerate(symbols):
        below = () if n == len(ranks) else (f"{rank:,}" if (rank := ranks[n]) is not None else "–",)
        plain = spelled(symbol)
        is_next = place >= 0 and n in (place, place + 1)
        kind: Kind = "next" if is_next else "new" if n == new else plain.kind
        boxes.append(Piece(plain.text, below, kind))
    return boxes
