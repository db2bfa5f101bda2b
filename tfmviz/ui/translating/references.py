from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.calibration import log_softmax
from tfmviz.constants import MOST_TYPED
from tfmviz.plots.cells import Axis, Cells, Scale, ValueFormat, amounts, probability
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import beams, icons, inputs
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_matrix
from tfmviz.ui.lesson import PageContext, control_row
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted, decimal, per_cent

KNOWN = {
    "J'ai une voiture rouge.": "I've got a red car. | My car is red.",
    "Je suis étudiant.": "I am a student.",
    "Elle ne mange jamais de viande.": "She doesn't eat meat, ever.",
    "Où est la gare ?": "Where is the railway station?",
}
"""References for the sentences of the menu, translated by hand and differently from `french-english`."""

LONGEST = 4
"""Words of BLEU's longest n-grams."""


def ask(ctx: PageContext) -> list[str]:
    """Draws the boxes for references; those of a sentence of the menu are filled in."""
    typed = inputs.text_input(
        "Reference translations, separated by |",
        KNOWN.get(ctx.text, ""),
        key="references",
        max_chars=MOST_TYPED,
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


def compare(ctx: PageContext) -> None:
    with control_row("reference"):
        references = ask(ctx)
    written = ctx.model.tokenizer.decode(ctx.trace.target.ids[1:]).strip()
    if not references:
        say_none()
        return
    if not written:
        st.info("The model wrote nothing.", icon=icons.INFO)
        return
    scores = _scores(written, tuple(references))
    found, words = scores.found, scores.words
    counts = range(1, len(found) + 1)
    notes = [
        [
            f"“{' '.join(words[first : first + n])}”" if np.isfinite(found[n - 1, first]) else "the text ends before"
            for first in range(len(words))
        ]
        for n in counts
    ]
    show_matrix(
        "grams",
        np.where(found == 1, 1.0, np.nan),
        Axis("", [counted(n, "word") for n in counts]),
        Axis("beginning at", [visible(word) for word in words]),
        Scale("open", 0, 1),
        form=ValueFormat(words=("in a reference", "not in a reference")),
        notes=notes,
        row_height=32,
        titles=("n-grams",),
    )
    kinds = ("words", "pairs", "triples", "fours")
    matched = ", ".join(f"{n} of {total} {kind}" for (n, total), kind in zip(scores.matched, kinds, strict=False))
    result(
        f"“{markdown.plain(written)}” has sentence BLEU **{scores.bleu:.1f}** and chrF **{scores.chrf:.1f}** "
        f"(sacreBLEU). A blue cell begins an n-gram of a reference. A reference has {matched}. BLEU is the geometric "
        f"mean of these shares, times {scores.brevity:.2f} for the length; chrF compares characters. Neither sees "
        "meaning: a missing “not” costs one word."
    )


@cached_for_all
def _scores(written: str, references: tuple[str, ...]) -> Scores:
    """sacreBLEU's, with its default tokenization (13a)."""
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
    """Marks the n-grams that a reference has: (n, word), 1, 0 or, where the text ends before the n-gram does, NaN.

    As in BLEU, an n-gram counts at most as often as it occurs in one reference; the first ones count.
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


def beginning(ctx: PageContext) -> None:
    with control_row("begins"):
        begins = inputs.text_input(
            "The translation begins with", "", key="begins", max_chars=300, placeholder="The first words, such as My"
        )
    model = ctx.model
    given = model.tokenizer.encode(begins, max_len=model.config.max_len - 2).ids
    ids, p = _written(model, ctx.text, tuple(given))
    ends = model.tokenizer.marks.ends
    words = [beams.named(model, index) for index in ids]
    n_given = len(given)
    show(
        "forced",
        Cells(
            p[None, None],
            Axis("", ("p",)),
            Axis("word", [f"[{word}]" if n < n_given else word for n, word in enumerate(words)]),
            probability("probability"),
            form=ValueFormat(digits=1, percent=True),
            texts=[[per_cent(value) for value in p.tolist()]],
            notes=[["given by you" if n < n_given else "chosen by the model" for n in range(len(words))]],
            row_height=44,
        ),
    )
    log_p, (free_ids, free_p) = float(np.log(p).sum()), _written(model, ctx.text, ())
    text, free = (model.tokenizer.decode([n for n in each if n not in ends]) for each in (ids, free_ids))
    is_at_once = len(ids) == len(given) + 1 and ids[-1] in ends
    end = " The model ends the text right after your words." if is_at_once else ""
    result(
        f"**{markdown.plain(text.strip())}** (log p(e | f) = Σᵢ log p(eᵢ | f, e₁ … eᵢ₋₁) = {decimal(log_p)} nats). On "
        f"its own it writes “{markdown.plain(free.strip())}” ({decimal(float(np.log(free_p).sum()))} nats).{end}"
    )


@cached_for_all
def _written(model: Model, text: str, given: tuple[int, ...]) -> tuple[tuple[int, ...], Array]:
    """The tokens of a greedy translation, including its end token, and the probability of each."""
    steps = zoo.writing.generate(model, text, given=given, max_new_tokens=model.config.max_len).steps
    return tuple(step.token for step in steps), np.array([step.probability for step in steps])


def losses(ctx: PageContext) -> None:
    with control_row("reference"):
        reference = ask(ctx)[:1]
    if not reference:
        say_none()
        return
    ids = tuple(ctx.model.tokenizer.encode(reference[0], max_len=ctx.model.config.max_len - 2).ids)
    if not ids:
        say_none()
        return
    forced, free, wrote = _losses(ctx.model, ctx.text, ids)
    words, own = ([beams.named(ctx.model, index) for index in row] for row in (ids, wrote))
    both = np.stack([forced, free])
    show_matrix(
        "losses",
        both,
        Axis("after", ("the correct words", "its own words")),
        Axis("word of the reference", words),
        amounts(both, "loss in nats"),
        form=ValueFormat(name="loss ", digits=2, unit=" nats"),
        texts=[[decimal(value) for value in row] for row in both.tolist()],
        notes=[[""] * len(words), [f"the model wrote “{word}”" for word in own]],
        row_height=40,
    )
    parts = next((n for n, (a, b) in enumerate(zip(ids, wrote, strict=True)) if a != b), None)
    where = (
        "The model's own words are the same."
        if parts is None
        else f"They diverge at word {parts + 1}, where the model writes “{markdown.plain(own[parts])}” instead of "
        f"“{markdown.plain(words[parts])}” ({per_cent(float(np.exp(-forced[parts])))})."
    )
    result(
        f"In training the decoder reads the correct words (upper row); the mean loss is "
        f"**{decimal(float(forced.mean()))} nats**. In use it reads its own (lower row): "
        f"**{decimal(float(free.mean()))} nats**. {where}"
    )


@cached_for_all
def _losses(model: Model, text: str, ids: tuple[int, ...]) -> tuple[Array, Array, tuple[int, ...]]:
    """−ln p of each token of a reference after its own words and after the model's, and these words.

    The model's translation is filled with its last token, the end token, where it is shorter.
    """
    end = model.tokenizer.marks.ends[:1]
    written = (*zoo.writing.generate(model, text).ids, *(end * len(ids)))[: len(ids)]
    found = []
    for target in (ids, written):
        log_p = log_softmax(model.trace(text, sites=("logits",), target=target[:-1])["logits"])
        found.append(-log_p[np.arange(len(ids)), list(ids)])
    return found[0], found[1], written
