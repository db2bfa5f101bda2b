"""What a translation looks at: in the encoder, in cross-attention, beside another one, and in other translators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.plots import bottleneck as alignments
from tfmviz.plots import translating as figures
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import icons, lesson, translators
from tfmviz.ui import sides as both
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.translators import SAID, TRANSFORMER, said, source_of, written
from tfmviz.words.labels import END, START, UNKNOWN, quoted, visible
from tfmviz.words.numbers import per_cent

ONE, LAYER, ALL = "one head", "mean of the layer", "mean of all layers"


def choose() -> str:
    """Asks which heads the figures show."""
    which = (
        st.segmented_control("Attention of", (ONE, LAYER, ALL), default=LAYER, key="heads", bind="query-params")
        or LAYER
    )
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


def encoder(here: Lesson) -> None:
    layer, head = here.choice.layer_index, here.choice.head
    pattern, names = here.trace[f"encoder.{layer}.self_attn.pattern"][head], sources(here.trace)
    said = quoted(names)
    title = f"Encoder, layer {layer}, head {head}"
    show(
        "encoder",
        figures.attention(pattern, queries=names, keys=names, title=title, across=False),
        alt=f"The last token, {said[-1]}, looks most at {said[int(pattern[-1].argmax())]}.",
    )
    st.markdown("The encoder runs once, for the whole translation.")


def side_by_side(here: Lesson, there: Lesson) -> None:
    sides = both.of(_crossing(here), _crossing(there))
    both.show_texts(sides.titles, [writes(side.trace) for side in sides.lessons], "the translation")
    st.markdown(f"{both.said(sides)} {both.how(sides)}")
    both.show_heads(sides)


def _crossing(side: Lesson) -> Lesson:
    """The same with the cross-attention of the chosen layer, and with a translation of its own."""
    layers = [layer for layer in side.model.config.layers if layer.endswith("cross_attn")]
    layer = layers[min(side.choice.layer_index, len(layers) - 1)]
    return replace(side, choice=replace(side.choice, layer=layer), writes_with_edits=True)


def compare(here: Lesson) -> None:
    recurrent = {kind: model for kind, model in translators.there().items() if kind != "none"}
    if here.model.name != TRANSFORMER or not recurrent:
        st.info(
            f"This tab compares `{TRANSFORMER}` with the models `seq2seq-…`, which read French too.", icon=icons.INFO
        )
        return
    with line("aligned"):
        which = choose()
    left, right = st.columns(2)
    with left:
        _draw(here.trace, crossing(here, here.trace, which), title=f"transformer, {which}", key="transformer")
    for n, (kind, model) in enumerate(recurrent.items()):
        trace = translators.trace(model, here.text)
        with (right, left)[n % 2]:
            _draw(trace, trace["decoder.alpha"], title=SAID[kind], key=kind)
    largest = max(model.config.n_parameters for model in recurrent.values())
    st.markdown(
        f"The recurrent translators have at most {per_cent(largest / here.model.config.n_parameters)} of the "
        "transformer's parameters: compare where they look, not how well they write."
    )


def _draw(trace: Trace, weights: Array, *, title: str, key: str) -> None:
    source, tokens = source_of(trace), written(trace)
    show(
        f"aligned_{key}",
        alignments.alignment(weights, title=title, source=source, written=tokens, shown=len(tokens)),
        alt=said(weights, source, tokens),
    )
