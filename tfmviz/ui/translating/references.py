"""The translation held against the reader's own: BLEU and chrF, and which words they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.plots.cells import Axis, Cells, Form, Scale
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson, line
from tfmviz.words import markdown
from tfmviz.words.labels import visible

KNOWN = {
    "J'ai une voiture rouge.": "I've got a red car. | My car is red.",
    "Je suis étudiant.": "I am a student.",
    "Elle ne mange jamais de viande.": "She doesn't eat meat, ever.",
    "Où est la gare ?": "Where is the railway station?",
}
"""References for the sentences of the menu, translated by hand and otherwise than by `french-english`."""

LONGEST = 4
"""Words of the longest n-grams that BLEU counts."""


def ask(here: Lesson) -> list[str]:
    """Asks for references and gives them, the first first; those of a sentence of the menu are known."""
    typed = inputs.text_input(
        "Reference translations, separated by |",
        KNOWN.get(here.text, ""),
        key="references",
        max_chars=1_000,
        placeholder="How would you translate it?",
    )
    return [" ".join(part.split()) for part in (typed or "").split("|") if part.strip()]


def say_none() -> None:
    st.info("Type or paste a translation above to compare.", icon=icons.INFO)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """sacreBLEU's figures for one sentence.

    Attributes:
        matched: how many of the 1- to 4-grams a reference has, and how many there are.
        brevity: BLEU's factor for translations that are too short.
        words: of the translation, as BLEU cuts it into words.
        found: (n, word); see `plots.translating.grams`.
    """

    bleu: float
    chrf: float
    matched: tuple[tuple[int, int], ...]
    brevity: float
    words: tuple[str, ...]
    found: Array


def _picture(found: Array, words: Sequence[str]) -> Cells:
    """Which n-grams a reference has, (n, word): NaN where the text ends before it."""
    counts = range(1, len(found) + 1)
    notes = [
        [
            f"“{' '.join(words[first : first + n])}”" if np.isfinite(found[n - 1, first]) else "the text ends before"
            for first in range(len(words))
        ]
        for n in counts
    ]
    return Cells(
        np.where(found == 1, 1.0, np.nan)[None],
        Axis("", [f"{n} word{'s' if n > 1 else ''}" for n in counts]),
        Axis("beginning at", [visible(word) for word in words]),
        Scale("open", 0, 1),
        form=Form(words=("in a reference", "not in a reference")),
        notes=notes,
        row_height=32,
    )


def compare(here: Lesson) -> None:
    """The scores of the model's translation, and its n-grams that a reference has."""
    with line("reference"):
        references = ask(here)
    written = here.model.tokenizer.decode(here.trace.target.ids[1:]).strip()
    if not references:
        say_none()
        return
    if not written:
        st.info("The model wrote nothing.", icon=icons.INFO)
        return
    scores = _scores(written, tuple(references))
    show("grams", _picture(scores.found, scores.words))
    kinds = ("words", "pairs", "triples", "fours")
    matched = ", ".join(f"{n} of {total} {kind}" for (n, total), kind in zip(scores.matched, kinds, strict=False))
    result(
        f"“{markdown.plain(written)}” has sentence BLEU **{scores.bleu:.1f}** and chrF **{scores.chrf:.1f}** "
        f"(sacreBLEU). A blue cell begins an n-gram of a reference. A reference has {matched}. BLEU is the geometric "
        f"mean of these shares, times {scores.brevity:.2f} for the length; chrF compares characters. Neither sees "
        "meaning: a missing “not” costs one word."
    )


@shared
def _scores(written: str, references: tuple[str, ...]) -> Scores:
    """By sacreBLEU, with its usual cutting into words (13a)."""
    from sacrebleu import BLEU, CHRF
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut: Callable[[str], str] = Tokenizer13a()  # type: ignore[no-untyped-call]
    words, *others = (tuple(cut(text).split()) for text in (written, *references))
    bleu = BLEU(effective_order=True).sentence_score(written, list(references))
    return Scores(
        bleu=bleu.score,
        chrf=CHRF().sentence_score(written, list(references)).score,
        matched=tuple((count, total) for count, total in zip(bleu.counts, bleu.totals, strict=True) if total),
        brevity=bleu.bp,
        words=words,
        found=matches(words, others),
    )


def matches(words: Sequence[str], references: Sequence[Sequence[str]]) -> Array:
    """Which n-grams a reference has: (n, word), 1, 0 or, where the text ends before the n-gram does, NaN.

    As in BLEU an n-gram counts at most as often as the reference that has it most often; the first ones count.
    """
    found = np.full((LONGEST, len(words)), np.nan)
    for n in range(1, LONGEST + 1):
        left: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            left |= Counter(_grams(reference, n))
        for first, gram in enumerate(_grams(words, n)):
            found[n - 1, first] = left[gram] > 0
            left[gram] -= 1
    return found


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]
