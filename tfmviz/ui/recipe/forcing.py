"""Teacher forcing: a model that predicts the next token, its predictions of the typed text, and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import streamlit as st

from tfmviz.analysis.calibration import log_softmax
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, icons, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import Table
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, rounded

MOST = 60
"""Places that are listed; the mean is over all."""


def forcing(here: Lesson) -> None:
    found = forced(here)
    if found is None:
        return
    at = min(place(found), MOST - 1)
    losses = found.losses
    mean = float(losses.mean())
    n = min(len(found.ids), MOST)
    show(
        "forcing",
        Table(
            caption=f"Mean loss {decimal(mean, '.3f')} nats per token. Click a row.",
            columns=("reads", "should say", "P(target)", "−ln P"),
            rows=[
                (
                    f"{i} {visible(found.reads[i])}",
                    visible(found.targets[i]),
                    rounded(math.exp(-losses[i])),
                    decimal(float(losses[i]), ".3f"),
                )
                for i in range(n)
            ],
            shares=[float(loss / max(losses.max(), 1e-9)) for loss in losses[:n]],
            picked=at,
            about=_arithmetic(found, at),
        ),
        on_pick=controls.pin,
    )
    result(_words(found, mean))


def _arithmetic(found: Forced, at: int) -> str:
    loss, best = float(found.losses[at]), int(found.log_p[at].argmax())
    target, read = quoted(found.targets, first=1)[at], quoted(found.reads)[at]
    said = f"P({target} | everything up to {read}) = {rounded(math.exp(-loss))}"
    hit = (
        "no entry is more probable"
        if best == found.ids[at]
        else f"the most probable entry has {rounded(math.exp(float(found.log_p[at, best])))}"
    )
    return f"{said}, and −ln {rounded(math.exp(-loss))} = {decimal(loss, '.3f')}; {hit}."


def _words(found: Forced, mean: float) -> str:
    first = " + ".join(decimal(float(loss), ".2f") for loss in found.losses[:3])
    dots = " + …" if len(found.ids) > 3 else ""
    return (
        f"The loss of the text is the mean: ({first}{dots}) / {len(found.ids)} = **{decimal(mean, '.3f')}**; exp of "
        f"it, the perplexity, is {rounded(math.exp(min(mean, 700)))}. Knowing nothing costs ln "
        f"{found.log_p.shape[1]:,} = {decimal(math.log(found.log_p.shape[1]))}. {_trained(found.model)}"
    )


def _trained(model: Model) -> str:
    """Where the answers come from in training, and what keeps the model from seeing them."""
    one_pass = "All places are trained in one pass, and a causal mask"
    if model.config.architecture == "encoder-decoder":
        return (
            "The target is what the decoder reads, moved by one place: in training the second text of a pair, "
            f"here what the model itself writes. {one_pass} keeps each from seeing its answer."
        )
    target = "The target is the input moved by one place."
    if model.config.training_mask == "none":
        return (
            f"{target} {one_pass} must keep each from seeing its answer. This model was trained without that mask, so "
            "it learned only to look its answer up."
        )
    return f"{target} {one_pass} keeps each from seeing its answer."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Forced:
    """A text that the model reads while it is asked for each next token.

    Attributes:
        model: which predicts.
        reads, targets: (len,), what stands at each place, and what the model should say there.
        ids: (len,), of the targets.
        log_p: (len, vocab), ln P of every entry at each place.
    """

    model: Model
    reads: tuple[str, ...]
    targets: tuple[str, ...]
    ids: tuple[int, ...]
    log_p: Array

    @property
    def losses(self) -> Array:
        """−ln P of each target: (len,)."""
        return -self.log_p[range(len(self.ids)), self.ids]


def forced(here: Lesson, *, from_left: bool = False) -> Forced | None:
    """The typed text with the predictions of a writer; an encoder-decoder predicts what it writes itself.

    None if the text has no next token.

    Args:
        from_left: the writer must see what stands to the left and nothing else, so an encoder-decoder is none.
    """
    kind = here.model.config.architecture
    fits = kind == "decoder-only" if from_left else kind != "encoder-only"
    needs = f"a model that predicts {'each token from those before it alone' if from_left else 'next tokens'}"
    there = lesson.stand_in(here, needs, fits=fits, instead="tiny-english")
    if there is None:
        return None
    found = _forced(there.model, here.text)
    if not found.ids:
        st.info("One token has no next one. Type a longer text.", icon=icons.WRITE)
        return None
    return found


@shared
def _forced(model: Model, text: str) -> Forced:
    trace = models.trace(model, text)
    target = trace.target
    return Forced(
        model=model,
        reads=target.tokens[:-1],
        targets=target.tokens[1:],
        ids=target.ids[1:],
        log_p=log_softmax(trace["logits"][:-1]),
    )


def place(found: Forced) -> int:
    """Which prediction the reader has chosen; until then the one that costs most."""
    chosen = controls.pinned()
    return int(found.losses.argmax()) if chosen is None else min(chosen, len(found.ids) - 1)
