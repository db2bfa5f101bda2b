"""What a translation looks at: in the encoder, in cross-attention, beside another one, and in other translators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.plots.cells import Axis, Cells, Form, share, shares
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import icons, inputs, lesson, translators
from tfmviz.ui import sides as both
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.sides import Sides
from tfmviz.ui.translators import SAID, TRANSFORMER, alignment, source_of, written
from tfmviz.words.labels import END, START, UNKNOWN, quoted, visible
from tfmviz.words.numbers import per_cent

ONE, LAYER, ALL = "one head", "mean of the layer", "mean of all layers"


def choose() -> str:
    """Asks which heads the figures show."""
    which = inputs.segmented_control("Attention of", (ONE, LAYER, ALL), default=LAYER, key="heads")
    if which != ONE:
        lesson.hide("head", *["layer"] * (which == ALL))
    return which


def crossing(here: Lesson, trace: Trace, which: str) -> Array:
    """Attention of the written words to the source, (q_len, k_len), whose rows sum to 1."""
    own = f"decoder.{here.choice.layer_index}.cross_attn.pattern"
    if which == ONE:
        return trace[own][here.choice.head]
    layers = [own] if which == LAYER else [f"{layer}.pattern" for layer in trace.layers if layer.endswith("cross_attn")]
    return np.mean([trace[layer].mean(axis=0) for layer in layers], axis=0)


def named(here: Lesson, which: str) -> str:
    layer = f"layer {here.choice.layer_index}"
    return {
        ONE: f"Cross-attention of {layer}, head {here.choice.head}",
        LAYER: f"Cross-attention of {layer}, mean of its heads",
        ALL: "Cross-attention, mean of all layers and heads",
    }[which]


def reads(trace: Trace) -> list[str]:
    """What the decoder has read last at every step: its own words, shifted right by one."""
    return [START, *(visible(token) for token in trace.tokens[1:])]


def writes(trace: Trace) -> list[str]:
    """What it writes at every step. After its last word comes the mark of the end, unless the text was cut off."""
    ends = int(trace.row("logits", -1).argmax()) == trace.target.ids[0]
    return [*reads(trace)[1:], END if ends else UNKNOWN]


def sources(trace: Trace) -> list[str]:
    assert trace.source is not None
    return [visible(token) for token in trace.source.tokens]


def encoder(here: Lesson, which: str) -> None:
    """What the words of the source look at before the first word is written."""
    layer, names = here.choice.layer_index, sources(here.trace)
    patterns = [here.trace[f"encoder.{n}.self_attn.pattern"] for n in range(here.model.config.n_layers)]
    of_layer = patterns[layer]
    pattern, of = {
        ONE: (of_layer[here.choice.head], f"layer {layer}, head {here.choice.head}"),
        LAYER: (of_layer.mean(axis=0), f"layer {layer}, mean of its heads"),
        ALL: (np.mean(patterns, axis=(0, 1)), "mean of all layers and heads"),
    }[which]
    title = f"The encoder runs once for the whole translation ({of})"
    show("encoder", picture(pattern, names, names, title, sides=("query", "key")))


def picture(
    weights: Array,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    sides: tuple[str, str] = ("reads → writes", "source"),
) -> Cells:
    """Attention of the words on the left to those above, (q_len, k_len)."""
    rows, columns = (Axis(side, words, quoted(words)) for side, words in zip(sides, (queries, keys), strict=True))
    texts, form = shares(weights), Form(digits=3)
    return Cells(weights[None], rows, columns, share(), form=form, titles=(title,), texts=texts, square=True)


def apart(sides: Sides) -> None:
    """Where the two translations part, and where the chosen head looks in each."""
    both.show_texts(sides.titles, [writes(side.trace) for side in sides.lessons], "the translation")
    st.markdown(f"{both.said(sides)} {both.how(sides)}")
    both.show_heads(sides)


def crossing_of(side: Lesson) -> Lesson:
    """The same with the cross-attention of the chosen layer, and with a translation of its own."""
    layers = [layer for layer in side.model.config.layers if layer.endswith("cross_attn")]
    layer = layers[min(side.choice.layer_index, len(layers) - 1)]
    return replace(side, choice=replace(side.choice, layer=layer), writes_with_edits=True)


def compare(here: Lesson) -> None:
    recurrent = {kind: model for kind, model in translators.there().items() if kind != "none"}
    if here.model.name != TRANSFORMER or not recurrent:
        st.info(
            f"This tab compares `{TRANSFORMER}` with the models `seq2seq-…`, which also read French.", icon=icons.INFO
        )
        return
    with line("aligned"):
        which = choose()
    found = [(here.trace, crossing(here, here.trace, which), f"transformer, {which}", "transformer")]
    for kind, model in recurrent.items():
        trace = translators.trace(model, here.text)
        found.append((trace, trace["decoder.alpha"], SAID[kind], kind))
    for first in range(0, len(found), 2):
        for column, (trace, weights, title, key) in zip(st.columns(2), found[first : first + 2], strict=False):
            with column:
                _draw(trace, weights, title=title, key=key)
    largest = max(model.config.n_parameters for model in recurrent.values())
    st.markdown(
        f"The recurrent translators have at most {per_cent(largest / here.model.config.n_parameters)} of the "
        "transformer's parameters, so compare where they look, not how well they write."
    )


def _draw(trace: Trace, weights: Array, *, title: str, key: str) -> None:
    source, tokens = source_of(trace), written(trace)
    show(
        f"aligned_{key}",
        alignment(weights, title, source, tokens, len(tokens)),
        follows=key != "transformer",
    )
