"""The model without its feed-forward layers: switched off, and never there."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from tfmviz.analysis import mask_effect
from tfmviz.record.edits import Scale
from tfmviz.record.trace import Trace
from tfmviz.ui import before_after, controls, icons, inputs, models
from tfmviz.ui.feed_forward import averages
from tfmviz.ui.feed_forward.subject import predicts
from tfmviz.ui.figures import result
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.numbers import counted

TWINS = ("twins-rope", "twins-attention-only")
"""Two shipped models that differ in nothing but whether they have feed-forward layers."""

SERIES = ("whole model", "feed-forward off")


PARTS = ("A head only averages", "Switched off", "Trained without")


def without(here: Lesson) -> None:
    """What attention alone can do, the chosen model with all feed-forward layers off, or two models trained so."""
    part = inputs.segmented_control(
        "Without it", PARTS, default=PARTS[0], key="without_it", label_visibility="collapsed"
    )
    if part == PARTS[1]:
        switched_off(here)
    elif part == PARTS[2]:
        twins(here)
    else:
        averages.inside(here)


def switched_off(here: Lesson) -> None:
    """The chosen model with all feed-forward layers off."""
    stacks = here.model.weights.stacks.values()
    layers = [site for stack in stacks for site in (*stack.feed_forward, *stack.experts)]
    if not predicts(here):
        st.info(
            f"{markdown.code(here.model.name)} has no output vocabulary, so no prediction can change.", icon=icons.INFO
        )
    elif layers:
        st.markdown(f"**{markdown.code(here.model.name)} with its {counted(len(layers), 'feed-forward layer')} off.**")
        without = tuple(Scale(site=f"{layer}.out", factor=0.0) for layer in layers)
        off = models.trace(here.model, here.text, (*here.edits, *without))
        _compare(here, off, SERIES, key="off")
    else:
        st.info(f"{markdown.code(here.model.name)} has no feed-forward layers to switch off.", icon=icons.INFO)


def _compare(here: Lesson, after: Trace, series: tuple[str, str], *, key: str) -> None:
    """Two runs: loss in words, loss per token, predictions."""
    if here.model.config.architecture != "encoder-only" and len(here.trace.tokens) > 1:
        old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids).mean() for run in (here.trace, after))
        result(
            f"Mean surprise at the words of {before_after.predicted(here)}: **{old:.2f}** nats ({series[0]}) in A, "
            f"**{new:.2f}** nats ({series[1]}) in B."
        )
        before_after.losses(here, after, key=f"losses_{key}")
    before_after.next_words(here, after, here.target, series=series, key=f"next_words_{key}")


def _on_held_out_text() -> str:
    """What the twins were measured at, in a sentence; nothing if a measurement is missing."""
    full, bare = map(by_position, TWINS)
    if full is None or bare is None:
        return ""
    return f" On held-out text its mean surprise is **{bare.mean:.2f}** instead of **{full.mean:.2f}** nats per token."


def twins(here: Lesson) -> None:
    """The same sentence through two models, one of which was trained without feed-forward layers."""
    full, bare = (models.needed(name) for name in TWINS)
    if full is None or bare is None:
        return
    st.markdown(
        f"**Trained without.** {markdown.code(TWINS[1])} never had feed-forward layers: it was "
        f"trained like {markdown.code(TWINS[0])}, with {bare.weights.n_parameters:,} instead of "
        f"{full.weights.n_parameters:,} parameters.{_on_held_out_text()}{before_after.of_twins(here.text)}"
    )
    there = replace(here, model=full)
    controls.say_what_was_cut(there.trace.target, "The twins read")
    _compare(there, models.trace(bare, here.text), ("with feed-forward layers", "attention only"), key="twins")
