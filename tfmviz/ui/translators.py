"""The recurrent translators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tfmviz import zoo
from tfmviz.plots.cells import Axis, Cells, ValueFormat, chosen_cell, of_tokens, share, shares
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Array, Trace
from tfmviz.text.tokenizer import END
from tfmviz.ui import models
from tfmviz.ui.cache import cached_for_all, shared_with_others
from tfmviz.words.labels import quoted, visible

TRANSFORMER = "french-english"
"""A transformer for the same languages."""

LEAST_WRITTEN = 0.05
"""Smaller weights have a dot: a picture full of “.01” hides what is large."""

KINDS: tuple[str, ...] = ("none", "dot", "bilinear", "additive")
"""The recurrent translators, by their attention."""

SAID: Mapping[str, str] = {
    "none": "no attention",
    "dot": "dot-product attention",
    "bilinear": "bilinear attention",
    "additive": "additive attention",
}


def loadable() -> dict[str, AnyModel]:
    """Names by their attention."""
    names = {kind: f"seq2seq-{kind}" for kind in KINDS if f"seq2seq-{kind}" in zoo.translators()}
    return {kind: model for kind, name in names.items() if (model := models.earlier(name)) is not None}


@shared_with_others
def translation(model: AnyModel, texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Translations without the end tokens."""
    return zoo.writing.translations(model, texts, max_new_tokens=model.config.max_len)


@cached_for_all
def trace(model: AnyModel, text: str) -> Trace:
    return model.trace(text, target=translation(model, text))


def written(of: Trace, ends: Collection[int] = (END,)) -> tuple[str, ...]:
    """The written tokens, one for each row of the pattern. After the last one the text ends, or was cut off."""
    is_over = int(of["logits"][-1].argmax()) in ends
    return (*of.tokens[1:], "⟨end⟩" if is_over else "…")


def written_rows(tokens: Sequence[str], shown: int) -> Axis:
    """Rows by the tokens written from them; those still to come are not given away."""
    names = [visible(token) if row < shown else "" for row, token in enumerate(tokens)]
    quotes = quoted(tokens, first=1)
    return Axis("writes", names, [f"writing {q}" if n < shown else "not written yet" for n, q in enumerate(quotes)])


def alignment(
    alpha: Array,
    title: str,
    source: Sequence[str],
    tokens: Sequence[str],
    shown: int,
    picked: tuple[int, int] | None = None,
) -> Cells:
    """α_ij, (written, source); rows after the first `shown` are grey."""
    values = np.where(np.arange(len(alpha))[:, None] < shown, alpha, np.nan)
    return Cells(
        values[None],
        written_rows(tokens, shown),
        of_tokens("source", source),
        share(title),
        form=ValueFormat(name="α "),
        texts=shares(np.where(values < LEAST_WRITTEN, 0.0, values)),
        frames=chosen_cell(picked) if picked and picked[0] < shown else (),
        square=True,
    )


def source_of(of: Trace) -> tuple[str, ...]:
    assert of.source is not None
    return of.source.tokens
