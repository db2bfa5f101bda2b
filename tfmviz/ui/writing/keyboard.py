from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from tfmviz.analysis import keyboard as keys
from tfmviz.analysis.keyboard import Word, Words
from tfmviz.constants import MOST_TYPED
from tfmviz.counting import pairs, shipped
from tfmviz.counting.pairs import Pairs
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, icons, lesson
from tfmviz.ui.boxes import show_boxes, written
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show_choice
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import either
from tfmviz.ui.writing import guessing
from tfmviz.ui.writing.desk import Written
from tfmviz.views.pieces import Piece, Row
from tfmviz.words import markdown
from tfmviz.words.numbers import counted, per_cent

SEEN = 4
"""Occurrences in the counted text from which a token is taken for a word; most others are beginnings of words."""

Scores = Callable[[int], Array]
"""Scores that order the words, by the position in the text where a word begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The words on offer: the model's tokens that are whole words of English."""

    words: Words
    ids: Array


def tab(ctx: PageContext, now: Written) -> None:
    guesses = {"suggestions": keyboard, "your guess": lambda ctx: guessing.guess(ctx, now)}
    either("Show", "suggests", guesses)(ctx)


def keyboard(ctx: PageContext) -> None:
    """Three buttons for the typed text; then that text typed with the model's words, and with counted ones."""
    model = ctx.model
    fits = model.config.architecture == "decoder-only" and len(dictionary(model).ids) >= 500
    ctx = ctx if fits else replace(ctx, edits=())  # they belong to another model
    ctx_b = lesson.fallback_model(ctx, "a language model with English words", fits=fits, instead="tiny-english")
    if ctx_b is None:
        return
    found = dictionary(ctx_b.model)
    scores = {"the model": by_model(ctx_b, found), "counted word pairs": by_pairs(ctx_b.text, found)}
    if not ctx_b.trace.target.n_dropped:
        _buttons(ctx_b.text, found, scores["the model"], name=ctx_b.model.name)
    text = ctx_b.trace.target.text[: ctx_b.trace.target.offsets[-1][1]]
    typed = {name: along(text, found.words, one) for name, one in scores.items()}
    full = len(text)
    saved = {name: sum(word.saved for word in words) for name, words in typed.items()}
    show_boxes(
        [Row(name, f"{full - saved[name]} keys", _pieces(text, words)) for name, words in typed.items()],
        key="keyboard",
        caption="Your text as typed; a tap completes a word",
        titles=("suggestions from", f"of {full}", "typed and tapped"),
    )
    sentence = " and ".join(
        f"**{counted(keys, 'key')}** ({per_cent(keys / full)}) with {name}" for name, keys in saved.items()
    )
    st.markdown(
        f"Saved: {sentence}. Both offer three of the same {len(found.ids):,} words, those that are one token of "
        f"{markdown.code(ctx_b.model.name)}."
    )


@cached_for_all
def dictionary(model: Model) -> Dictionary:
    found: dict[str, int] = {}
    counts = text_counted()
    for token, entry in enumerate(model.vocabulary):
        number = counts.numbers.get(entry[1:])
        if entry[:1] == " " and entry[1:].isalpha() and number is not None and counts.counts[number] >= SEEN:
            found.setdefault(entry[1:], token)
    return Dictionary(Words(tuple(found)), np.fromiter(found.values(), dtype=np.int64))


def text_counted() -> Pairs:
    """The text of the page on counting, counted once for the whole server."""
    with st.spinner("Counting words…"):
        return _counted()


@cached_for_all
def _counted() -> Pairs:
    return pairs.counted(shipped.read_corpus(shipped.NAMES[0]))


def by_model(ctx: PageContext, found: Dictionary) -> Scores:
    """The model's logits of the words, after the last token that ends before the position."""
    trace = ctx.trace
    ends = np.array([end for _, end in trace.target.offsets])

    def scores(place: int) -> Array:
        before = int((ends <= len(trace.target.text[:place].rstrip())).sum()) - 1
        return trace.row("logits", before)[found.ids] if before >= 0 else np.zeros(len(found.ids))

    return scores


def by_pairs(text: str, found: Dictionary) -> Scores:
    """The count of each word after the one before the position."""
    counts = text_counted()
    known = counts.known(found.words.names)
    read = list(pairs.WORD.finditer(text))
    ends = [word.end() for word in read]

    def scores(place: int) -> Array:
        before = bisect_right(ends, place)
        return counts.scores(read[before - 1][0] if before else "", known)

    return scores


def along(text: str, words: Words, scores: Scores) -> list[Word]:
    return [keys.taken(word, scores(word.start()), words) for word in keys.WORD.finditer(text)]


def _pieces(text: str, words: list[Word]) -> list[Piece]:
    pieces, at = [], 0
    for word in words:
        taps = word.start + word.typed
        if word.saved:
            pieces += [Piece(written(text[at:taps])), Piece(text[taps : word.end], kind="tap")]
            at = word.end
    return [piece for piece in [*pieces, Piece(written(text[at:]))] if piece.text]


def _buttons(text: str, found: Dictionary, scores: Scores, *, name: str) -> None:
    begin = keys.begun(text)
    if not text[:begin].strip():
        st.info("Type a word and a space, then Enter.", icon=icons.INFO)
        return
    best = keys.offers(scores(begin), found.words, text[begin:])

    def take(text: object) -> None:
        st.session_state["text"] = str(text)[:MOST_TYPED]
        controls.forget_token()

    data = {"model": name, "ids": found.ids.tolist(), "before": f"{text[:begin].rstrip()} "}
    show_choice(
        "offers",
        data=data | {"words": [found.words.names[at] for at in best]},
        on_pick=take,
    )
    if not best:
        st.caption("No word in the list begins like this.")
