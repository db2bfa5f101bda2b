"""Two runs of one sentence side by side: what each predicts, and how surprised each is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.analysis import mask_effect
from tfmviz.analysis.predictions import softmax
from tfmviz.constants import NEXT_WORDS
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.pairs import differences, pairs
from tfmviz.record.trace import Array, Trace
from tfmviz.text.familiar import is_latin
from tfmviz.ui import controls, models
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.views.bars import Bars
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal

ONE_TOKEN = "A single token has no next word to predict. Type more."


def of_twins(text: str) -> str:
    """What to say below the twins' surprise at a text that is hardly English: they learned no other language. Else "".

    Such a text is one for a translator, or one with letters that are not Latin.
    """
    translates = models.load(controls.choice().model).config.architecture == "encoder-decoder"
    if not translates and all(map(is_latin, filter(str.isalpha, text))):
        return ""
    return " These models learned English alone, so their surprise at this text says little."


def predicted(here: Lesson) -> str:
    """What the losses are about, in words: an encoder-decoder predicts the words of its own answer."""
    return "your sentence" if here.trace.source is None else "the model's answer"


def place(here: Lesson) -> str:
    """Where a prediction stands: an encoder fills the place of a token, a decoder goes on after it."""
    return "In the place of" if here.model.config.architecture == "encoder-only" else "After"


def next_words(here: Lesson, after: Trace, token: int, *, series: tuple[str, str], key: str = "next_words") -> None:
    """What is predicted after the chosen token, in both runs, or in the only one.

    Args:
        series: the names of the two runs.
    """
    runs = [here.trace] if after is here.trace else [here.trace, after]
    shares = [softmax(run.row("logits", token)) for run in runs]
    best = np.argsort(-np.max(shares, axis=0), kind="stable")[:NEXT_WORDS]
    words = [visible(here.model.vocabulary[index]) for index in best]
    show(key, Bars(labels=words, shares=[p[best].tolist() for p in shares], names=series[: len(runs)]))


def losses(here: Lesson, after: Trace, *, key: str = "losses") -> None:
    """How much more every next word surprises in the run after, B, than in A before; in the only one, how much."""
    before = here.trace
    if len(before.tokens) < 2 or "decoder.0.self_attn.pattern" not in before:
        return
    old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids) for run in (before, after))
    names = quoted(before.tokens)[1:]
    if after is before:
        names, words = [visible(token) for token in before.tokens[1:]], [decimal(value) for value in old]
        show(key, bar_chart(names, old, "surprise, nats", words=words, colours=theme().plain, theme=theme()))
        return
    show(
        key,
        differences(
            before.tokens[1:],
            old,
            new,
            title="B − A, change of the surprise in nats",
            token_title="word to predict",
            names=names,
            theme=theme(),
        ),
    )


def show_losses(tokens: Sequence[str], old: Array, new: Array, *, series: tuple[str, str], key: str) -> None:
    """The chart of two surprises at each token but the first."""
    names = quoted(tokens)[1:]
    show(
        key,
        pairs(
            tokens[1:],
            old,
            new,
            series=series,
            title="−log p, nats",
            token_title="word to predict",
            names=names,
            theme=theme(),
        ),
    )
