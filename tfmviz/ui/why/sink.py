"""The first token as a sink: how much each head gives it, and what its value is worth."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import ablation
from tfmviz.analysis.why.sinks import Sinks, sinks, without_value
from tfmviz.plots.cells import of_heads, share, written
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace, kind_of
from tfmviz.ui import before_after, controls, icons, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.why import subject
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent

TWINS = ("twins-rope", "twins-sink")


def sink(here: Lesson) -> None:
    kind = kind_of(here.choice.layer)
    found = sinks(here.trace, here.model.weights, kind)
    if np.isnan(found.shares).all():
        st.info("The first token can only attend to itself. Type more words.", icon=icons.INFO)
        return
    _map(here, found)
    _in_words(here, found)
    _twins(here)
    if "logits" in here.trace:
        after = _run(here.model, here.text, (here.choice.layer,), here.choice.head)
        before_after.next_words(
            here, after, here.target, series=("as it is", "without that value"), key="words_without_value"
        )


def _twins(here: Lesson) -> None:
    """What two twins do with the sentence, of which one has learned sinks; nothing without it."""
    if not set(TWINS) <= set(zoo.available()):
        return
    said = []
    for name in TWINS:
        model = models.load(name)
        trace = models.trace(model, here.text)
        found, ids = sinks(trace, model.weights, "decoder.self_attn"), trace.target.ids
        if np.isnan(found.shares).all():
            return  # one token to them, which has no choice
        loss = ablation.surprise_of(trace, ablation.whole_text(ids))
        said.append(
            f"{markdown.code(name)} gives **{per_cent(float(np.nanmean(found.shares)))}** to the first "
            f"token, leaves **{per_cent(float(found.unused.mean()))}** unused and has a loss of **{loss:.2f}** nats"
        )
    st.markdown(
        f"Twins, the second with a trained sink in each head: {'; '.join(said)}.{before_after.of_twins(here.text)}"
    )


@shared
def _run(model: Model, text: str, layers: tuple[str, ...], head: int | None) -> Trace:
    """A run in which the first token's value is zero; None: in all heads of these layers."""
    return models.run(model, text, without_value(model.weights, layers, head), sites=("logits",))


def _map(here: Lesson, found: Sinks) -> None:
    texts, chosen = written(found.shares, ".2f", absent="–"), (here.choice.layer_index, here.choice.head)
    show(
        "sinks",
        of_heads(found.shares, share(), texts=texts, chosen=chosen),
        click=controls.LOOKS,
        on_pick=lambda layer, head: controls.look_at(found.layers[layer], head),
    )


def _in_words(here: Lesson, found: Sinks) -> None:
    choice = here.choice
    first = markdown.plain(quoted(here.trace.axes(choice.layer)[1].tokens)[0])
    at = found.layers.index(choice.layer), choice.head
    result(
        f"Heads give **{per_cent(float(np.nanmean(found.shares)))}** to {first} on average; "
        f"head {choice.layer_index}.{choice.head} gives **{per_cent(float(found.shares[at]))}**. The norm of its "
        f"value there is **{decimal(float(found.lengths[at]))}** times that elsewhere."
    )
    ids = here.trace.target.ids
    if "logits" not in here.trace or here.model.config.architecture == "encoder-only" or len(ids) < 2:
        return
    asked = ablation.whole_text(ids)
    whole, one, every = (
        ablation.surprise_of(run, asked)
        for run in (
            here.trace,
            _run(here.model, here.text, (choice.layer,), choice.head),
            _run(here.model, here.text, found.layers, None),
        )
    )
    st.markdown(
        f"Mean surprise: **{whole:.2f}** nats; without that value in this head **{one:.2f}**, in all "
        f"**{every:.2f}**.{subject.together(here.weights, choice.head)}"
    )
