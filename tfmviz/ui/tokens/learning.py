"""Byte-pair encoding learned from a text while one watches: which pair is the most frequent, and what it becomes."""

from __future__ import annotations

import streamlit as st

from tfmviz.constants import MOST_TYPED
from tfmviz.places import PROJECT
from tfmviz.text import bpe
from tfmviz.text.bpe import Learned
from tfmviz.ui import controls, icons, inputs, lesson
from tfmviz.ui.boxes import show_boxes, spelled
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import Table
from tfmviz.views.pieces import Row
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted

MOST_MERGES = 300

OPENS_AT = 60
"""Merges at first: enough for whole words."""

MOST_CHARACTERS = 100_000
"""Of a pasted text; browsers are slow with more in a box."""

SENTENCE, OURS, OWN = "your sentence", "ours", "yours"

IN_ADDRESS = MOST_TYPED
"""Characters of a pasted text that still fit into the address."""


def learn(here: Lesson) -> None:
    """The table of pair counts at one step, the pair that wins, and the sentence as it is cut by then."""
    with lesson.line("learning"):
        which = inputs.selectbox("Text", (OURS, SENTENCE, OWN), key="learn_from", width=170)
        wanted = inputs.slider("Merges", 1, MOST_MERGES, OPENS_AT, key="merges_learned")
    below = st.container()
    text = _text(here, which)
    with st.spinner("Counting pairs…"):
        _, steps = _learned(text)
    with below:
        if not steps:
            st.info("No word of this text has two bytes. Paste a longer text.", icon=icons.WRITE)
            return
        _show(here, text, steps, min(wanted, len(steps)))


def _show(here: Lesson, text: str, steps: tuple[Learned, ...], n: int) -> None:
    left, right = st.columns([2, 3])
    table = steps[n - 1].table
    with left:
        show(
            "pair_counts",
            Table(
                caption=f"Before merge {n}: the most frequent adjacent pairs",
                columns=("pair", "becomes", "count"),
                rows=[(f"{_name(a)} + {_name(b)}", _name(a + b), f"{often:,}") for (a, b), often in table],
                shares=[often / table[0][1] for _, often in table],
                about=_tie(table),
            ),
        )
    cut = list(map(spelled, _cut(here.text, tuple(step.pair for step in steps[:n]))))
    with right:
        new = [spelled("".join(step.pair)) for step in steps[:n]]
        rows = [
            Row("your sentence", counted(len(cut), "token"), cut),
            Row("merges so far", f"{n}, latest first", new[::-1]),
        ]
        show_boxes(rows, key="learned_so_far", caption="", titles=("what", "how many", "the pieces"))
    _words(text, len(steps))


def _name(symbol: str) -> str:
    return visible(spelled(symbol).text)


def _tie(table: tuple[tuple[bpe.Pair, int], ...]) -> str:
    same = sum(1 for _, often in table if often == table[0][1])
    if same == 1:
        return "The first row wins: no other pair is as frequent."
    return f"{same} of these pairs are equally frequent; the one with the older symbols wins."


def _words(text: str, n_steps: int) -> None:
    st.markdown(
        f"The text has {len(text):,} characters. This page stops after {MOST_MERGES} merges; real vocabularies have "
        "tens of thousands."
    )
    if n_steps < MOST_MERGES:
        st.info(f"Learning ended after {counted(n_steps, 'merge')}: every word is one token.", icon=icons.INFO)


def _text(here: Lesson, which: str) -> str:
    if which == SENTENCE:
        return here.text
    if which == OURS:
        return _ours()
    if "pasted" not in st.session_state:
        st.session_state["pasted"] = st.session_state.get("pasted_before") or st.query_params.get("pasted", "")
    typed = inputs.text_area(
        f"Your text, up to {MOST_CHARACTERS:,} characters ({IN_ADDRESS:,} in the address)",
        key="pasted",
        max_chars=MOST_CHARACTERS,
        height=120,
        on_change=_keep,
        placeholder="Paste a text to learn from.",
        bind=None,
    )
    if typed and typed.strip():
        return typed
    st.info("Your text is empty, so the page learns from its own.", icon=icons.WRITE)
    return _ours()


def _keep() -> None:
    """Keeps a pasted text when another tab is open, and a short one in the address."""
    text = st.session_state["pasted_before"] = st.session_state["pasted"]
    controls.put({"pasted": text if len(text) <= IN_ADDRESS else ""})


@shared
def _ours() -> str:
    return (PROJECT / "assets" / "texts" / "english.txt").read_text(encoding="utf-8")


@shared
def _cut(sentence: str, merges: tuple[bpe.Pair, ...]) -> tuple[str, ...]:
    """The tokens of the sentence by these merges. A pair may be learned twice; its first place counts."""
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(merges)))}
    return tuple(symbol for word, _ in bpe.words_of(sentence) for symbol in bpe.cut(word, ranks))


@shared
def _learned(text: str) -> tuple[str, tuple[Learned, ...]]:
    """The text too, since the cache keeps it as the key and counts only results."""
    text = text.encode("utf-8", errors="replace").decode()  # half a surrogate pair is no text
    return text, tuple(bpe.learn(bpe.count_words(text), n_merges=MOST_MERGES))
