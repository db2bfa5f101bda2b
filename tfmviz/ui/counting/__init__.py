"""Counting n-grams: the choices of the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from tfmviz.constants import MOST_TYPED
from tfmviz.counting import shipped, smoothing
from tfmviz.counting.smoothing import LONGEST, Counted, HeldOut, Method, Smoothing, context_of, held_out
from tfmviz.counting.words import CLOSING, MARK, UNKNOWN, sentences_of, words_of
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.lesson import PageContext
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted

PROMPTS = ("the students opened their", "today the", "today the price of")

METHODS: tuple[Method, ...] = ("none", "add-δ", "back-off", "interpolation", "Kneser–Ney")

DELTAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)

SHIPPED, OWN = "ours", "yours"

CLASSROOM = """The students opened their books. In room two the students opened their books, too.
As soon as the bell rang, the students opened their laptops. Nobody spoke while the students opened their exams.
The students opened their books again. When the teacher came in, the students closed their laptops.
After lunch the students opened their minds."""
"""Opens where a reader's text goes: the lectures' 4-gram occurs in it, which the shipped text lacks."""


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The page's state.

    Attributes:
        text: the counted text.
        is_own: whether the reader has pasted it.
        typed: the text of the sentence box.
    """

    n: int
    smoothing: Smoothing
    text: Counted
    is_own: bool
    typed: str

    @cached_property
    def history(self) -> tuple[int, ...]:
        """The words of the last typed sentence, without its end tokens, and the `MARK` before them."""
        sentences = sentences_of(self.typed)
        words = [word.name for word in words_of(sentences[-1])] if sentences else []
        while words and words[-1] in CLOSING:
            words.pop()
        return (MARK, *(self.text.numbers.get(word, UNKNOWN) for word in words))

    @property
    def context(self) -> tuple[int, ...]:
        return context_of(self.history, self.n)

    def spoken(self, words: tuple[int, ...]) -> str:
        return " ".join(visible(self.text.vocabulary[word]) for word in words)


def choose(ctx: PageContext) -> Counting:
    with lesson.control_row("counting"):
        n = inputs.segmented_control("n", range(1, LONGEST + 1), default=3, key="n")
        method = inputs.selectbox("Smoothing", METHODS, key="smoothing", width=240)
        which = inputs.selectbox("Text", (SHIPPED, OWN), key="source", width=150)
        lesson.presets("Prompts", PROMPTS, key="prompt", width=120)
        smoothing = _smoothing(method)
    own = _own() if which == OWN else None
    text = shipped_text() if own is None else _counted(own)
    return Counting(n=n, smoothing=smoothing, text=text, is_own=own is not None, typed=ctx.text)


def _smoothing(method: Method) -> Smoothing:
    if method == "add-δ":
        return Smoothing(method, delta=inputs.select_slider("δ", DELTAS, 0.1, key="delta"))
    if method == "interpolation":
        return Smoothing(method, share=inputs.slider("λ", 0.05, 0.95, 0.6, 0.05, key="lambda"))
    return Smoothing(method)


def _own() -> str | None:
    """A pasted text; None while the box contains no word."""
    typed = inputs.text_area(
        f"Your text, up to {MOST_TYPED:,} characters",
        CLASSROOM,
        key="own",
        max_chars=MOST_TYPED,
        height=120,
        placeholder="Paste a text to count.",
    )
    if any(map(str.isalnum, typed or "")):
        return typed
    st.info("Your text has no word yet, so the page counts its own.", icon=icons.WRITE)
    return None


@cached_for_all
def _counted(text: str) -> Counted:
    return smoothing.counted(sentences_of(text))


def shipped_text() -> Counted:
    with st.spinner("Counting the words of the text…"):
        return _shipped()


@cached_for_all
def _shipped() -> Counted:
    return smoothing.counted(shipped.read_corpus(shipped.NAMES[0]).split("\n"))


@cached_for_all
def measured() -> HeldOut:
    return held_out(_shipped(), shipped.read_corpus(shipped.NAMES[1]).split("\n"))


def unknown_words(at: Counting) -> list[str]:
    """The typed words that the text lacks, each once."""
    names = dict.fromkeys(word.name for word in words_of(at.typed))
    return [name for name in names if name not in at.text.numbers]


def n_words(text: Counted) -> int:
    """Words without the special tokens between sentences."""
    return len(text.stream) - len(text.lines) - 1


def about(at: Counting) -> None:
    n_different = at.text.vocab_size - len((MARK, UNKNOWN))
    sentences, tokens = counted(len(at.text.lines), "sentence"), counted(n_words(at.text), "token")
    size = f"{sentences}, {tokens}, {n_different:,} different"
    whose = (
        f"Counted in your own text: {size}, part of this page's address."
        if at.is_own
        else f"Counted in the app's own text: {size}, from Common Voice (CC0), Tatoeba (CC BY 2.0 FR, tatoeba.org, via "
        "manythings.org/anki), Standard Ebooks and Project Gutenberg."
    )
    st.caption(
        f"{whose} Capitals are ignored. ⟨s⟩ separates sentences. ⟨unknown⟩ stands for any word missing from the text."
    )
