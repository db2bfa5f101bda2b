from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.analysis import mask_effect
from tfmviz.analysis.predictions import softmax
from tfmviz.constants import NEXT_WORDS
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.pairs import differences
from tfmviz.record.trace import Array, Trace
from tfmviz.text.familiar import is_latin
from tfmviz.ui import controls, models
from tfmviz.ui.figures import show, show_pairs, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.views.bars import Bars
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal

NO_NEXT_WORD = "This model has no next word to predict."

ONE_TOKEN = "A single token has no next word to predict. Type more."


def of_twins(text: str) -> str:
    """A note on text that is hardly English, the twins' only language; else ""."""
    translates = models.load(controls.choice().model).config.architecture == "encoder-decoder"
    if not translates and all(map(is_latin, filter(str.isalpha, text))):
        return ""
    return " These models learned English alone, so their surprise at this text says little."


def predicted(ctx: PageContext) -> str:
    """The text that the losses are about: of an encoder-decoder, its answer."""
    return "your sentence" if ctx.trace.source is None else "the model's answer"


def place(ctx: PageContext) -> str:
    """The position of a prediction: an encoder fills a token's, a decoder continues after it."""
    return "In the place of" if ctx.model.config.architecture == "encoder-only" else "After"


def next_words(ctx: PageContext, after: Trace, token: int, *, series: tuple[str, str], key: str = "next_words") -> None:
    """The predictions after the chosen token in both runs, or in the only one."""
    runs = [ctx.trace] if after is ctx.trace else [ctx.trace, after]
    shares = [softmax(run.row("logits", token)) for run in runs]
    best = np.argsort(-np.max(shares, axis=0), kind="stable")[:NEXT_WORDS]
    words = [visible(ctx.model.vocabulary[index]) for index in best]
    show(key, Bars(labels=words, shares=[p[best].tolist() for p in shares], names=series[: len(runs)]))


def losses(ctx: PageContext, after: Trace, *, key: str = "losses") -> None:
    """Draws how each token's loss rises from A, before, to B, after; for a single run, its losses."""
    before = ctx.trace
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
    names = quoted(tokens)[1:]
    show_pairs(
        key, tokens[1:], old, new, series=series, title="−log p, nats", token_title="word to predict", names=names
    )
