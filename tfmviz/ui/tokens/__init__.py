"""Byte-pair encoding: its merges replayed on a word, and learned step by step from a text."""

from __future__ import annotations

from itertools import pairwise

import streamlit as st

from tfmviz.constants import MOST_TYPED
from tfmviz.paths import PROJECT
from tfmviz.record.model import Model
from tfmviz.text import bpe
from tfmviz.text.bpe import Learned
from tfmviz.ui import icons, inputs, lesson, url
from tfmviz.ui.boxes import show_boxes, spelled
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show_table
from tfmviz.ui.lesson import PageContext
from tfmviz.views.pieces import Kind, Piece, Row
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted

WITH_MERGES = "tiny-english"
"""The model whose merges are shown where the chosen one has none."""

LONGEST = 60
"""Bytes of a word that are replayed: more steps than that teach nothing."""


def model_with_merges(ctx: PageContext) -> Model | None:
    """The chosen model if its tokenizer merges bytes, else one that does, with a note."""
    merges = ctx.model.tokenizer.ranks is not None
    ctx_b = lesson.fallback_model(ctx, "a model that cuts words by merging bytes", fits=merges, instead=WITH_MERGES)
    return None if ctx_b is None else ctx_b.model


def replay(ctx: PageContext) -> None:
    model = model_with_merges(ctx)
    words = [] if model is None else [word for word, _ in bpe.words_of(model.tokenizer.spelled(ctx.text))]
    if model is None or not words:
        return
    ranks = model.tokenizer.ranks
    assert ranks is not None
    with lesson.control_row("merges"):
        longest = max(range(len(words)), key=lambda n: (len(words[n]), -n))
        whole = words[
            inputs.selectbox(
                "Word",
                range(len(words)),
                index=longest,
                format_func=lambda n: f"{n}  {''.join(spelled(c).text for c in words[n][:LONGEST])}",
                key="merged",
                width=260,
            )
        ]
        word = whole[:LONGEST]
        steps = list(bpe.merges(word, ranks))
        shown = len(steps)
        if steps:
            shown = inputs.slider("Merges", 0, len(steps), len(steps), key="merges_shown")
    if len(whole) > LONGEST:
        st.info(f"Only the first {LONGEST} of the word's {len(whole)} bytes are merged here.", icon=icons.CUT)
    rows, new = [], -1  # place of the symbol that the step before has made
    for n, step in enumerate(steps[:shown]):
        best = step.ranks[step.place]
        symbols = _boxes(step.symbols, step.ranks, place=step.place, new=new)
        rows.append(Row("bytes" if n == 0 else f"after {n}", f"next: {best:,}", symbols))
        new = step.place
    last = bpe.after(word, steps[:shown])
    found = tuple(ranks.get(pair) for pair in pairwise(last))
    finished = shown == len(steps)
    name = "tokens" if finished and (word == whole) else "bytes" if shown == 0 else f"after {shown}"
    rows.append(Row(name, "none left" if finished else "", _boxes(last, found, place=-1, new=new)))
    show_boxes(
        rows,
        key="merges",
        caption="",
        titles=("step", "priority", "the symbols, each with its pair's priority underneath"),
    )
    st.markdown(
        f"The list has {len(ranks):,} merges in the order learned; the lowest number is merged next (framed). A "
        "dash marks a pair that was never learned."
    )


def _boxes(symbols: tuple[str, ...], ranks: tuple[int | None, ...], *, place: int, new: int) -> list[Piece]:
    boxes = []
    for n, symbol in enumerate(symbols):
        below = () if n == len(ranks) else (f"{rank:,}" if (rank := ranks[n]) is not None else "–",)
        plain = spelled(symbol)
        is_next = place >= 0 and n in (place, place + 1)
        kind: Kind = "next" if is_next else "new" if n == new else plain.kind
        boxes.append(Piece(plain.text, below, kind))
    return boxes


MOST_MERGES = 300

OPENS_AT = 60
"""Merges at first: enough for whole words."""

MOST_CHARACTERS = 100_000
"""Of a pasted text; browsers are slow with more in a box."""

SENTENCE, OURS, OWN = "your sentence", "ours", "yours"

IN_ADDRESS = MOST_TYPED
"""Characters of a pasted text that still fit into the address."""


def learn(ctx: PageContext) -> None:
    with lesson.control_row("learning"):
        which = inputs.selectbox("Text", (OURS, SENTENCE, OWN), key="learn_from", width=170)
        wanted = inputs.slider("Merges", 1, MOST_MERGES, OPENS_AT, key="merges_learned")
    below = st.container()
    text = _text(ctx, which)
    with st.spinner("Counting pairs…"):
        _, steps = _learned(text)
    with below:
        if not steps:
            st.info("No word of this text has two bytes. Paste a longer text.", icon=icons.WRITE)
            return
        n = min(wanted, len(steps))
        left, right = st.columns([2, 3])
        table = steps[n - 1].table
        with left:
            show_table(
                "pair_counts",
                caption=f"Before merge {n}: the most frequent adjacent pairs",
                columns=("pair", "becomes", "count"),
                rows=[(f"{_name(a)} + {_name(b)}", _name(a + b), f"{often:,}") for (a, b), often in table],
                shares=[often / table[0][1] for _, often in table],
                about=_tie(table),
            )
        cut = list(map(spelled, _cut(ctx.text, tuple(step.pair for step in steps[:n]))))
        with right:
            new = [spelled("".join(step.pair)) for step in steps[:n]]
            rows = [
                Row("your sentence", counted(len(cut), "token"), cut),
                Row("merges so far", f"{n}, latest first", new[::-1]),
            ]
            show_boxes(rows, key="learned_so_far", caption="", titles=("what", "how many", "the pieces"))
        st.markdown(
            f"The text has {len(text):,} characters. This page stops after {MOST_MERGES} merges; real vocabularies "
            "have tens of thousands."
        )
        if len(steps) < MOST_MERGES:
            st.info(f"Learning ended after {counted(len(steps), 'merge')}: every word is one token.", icon=icons.INFO)


def _name(symbol: str) -> str:
    return visible(spelled(symbol).text)


def _tie(table: tuple[tuple[bpe.Pair, int], ...]) -> str:
    same = sum(1 for _, often in table if often == table[0][1])
    if same == 1:
        return "The first row wins: no other pair is as frequent."
    return f"The first {same} pairs are equally frequent; the one with the older symbols wins."


def _text(ctx: PageContext, which: str) -> str:
    if which == SENTENCE:
        return ctx.text
    if which == OURS:
        return _ours()
    st.session_state.setdefault("pasted", st.session_state.get("pasted_before") or url.text("pasted"))
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
    text = st.session_state["pasted_before"] = st.session_state["pasted"]
    url.put({"pasted": text if len(text) <= IN_ADDRESS else ""})


@cached_for_all
def _ours() -> str:
    return (PROJECT / "assets" / "texts" / "english.txt").read_text(encoding="utf-8")


@cached_for_all
def _cut(sentence: str, merges: tuple[bpe.Pair, ...]) -> tuple[str, ...]:
    """A pair may be learned twice; its first place counts."""
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(merges)))}
    return tuple(symbol for word, _ in bpe.words_of(sentence) for symbol in bpe.cut(word, ranks))


@cached_for_all
def _learned(text: str) -> tuple[str, tuple[Learned, ...]]:
    """Includes the text, since the cache keeps it as the key and counts only results."""
    text = text.encode("utf-8", errors="replace").decode()  # half a surrogate pair is not text
    return text, tuple(bpe.learn(bpe.count_words(text), n_merges=MOST_MERGES))
