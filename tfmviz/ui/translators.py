"""The recurrent translators: each is loaded once, and translates a text once, for all readers and pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tfmviz import zoo
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Trace
from tfmviz.text.tokenizer import END
from tfmviz.ui import models
from tfmviz.ui.cache import shared, shared_with_others

TRANSFORMER = "french-english"
"""The transformer whose languages they share."""

KINDS: tuple[str, ...] = ("none", "dot", "bilinear", "additive")
"""The recurrent translators, by their attention."""

SAID: Mapping[str, str] = {
    "none": "no attention",
    "dot": "dot-product attention",
    "bilinear": "bilinear attention",
    "additive": "additive attention",
}


def there() -> dict[str, AnyModel]:
    """Those that are in `assets/models/`, by their attention."""
    names = {kind: f"seq2seq-{kind}" for kind in KINDS if f"seq2seq-{kind}" in zoo.translators()}
    return {kind: model for kind, name in names.items() if (model := models.earlier(name)) is not None}


@shared_with_others
def translation(model: AnyModel, texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """What a recurrent model writes, without the mark at its end."""
    return zoo.writing.translations(model, texts, max_new_tokens=model.config.max_len)


@shared
def trace(model: AnyModel, text: str) -> Trace:
    """Everything a recurrent model computes while it translates `text`."""
    return model.trace(text, target=translation(model, text))


def written(of: Trace, ends: Collection[int] = (END,)) -> tuple[str, ...]:
    """The tokens that a model wrote, one for each row of its pattern. After the last it ends, or was cut off.

    Args:
        ends: the marks with which a translation ends.
    """
    is_over = int(of["logits"][-1].argmax()) in ends
    return (*of.tokens[1:], "⟨end⟩" if is_over else "…")


def source_of(of: Trace) -> tuple[str, ...]:
    assert of.source is not None
    return of.source.tokens
