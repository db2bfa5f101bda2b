"""The translation word by word, and its attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.predictions import softmax
from tfmviz.plots.cells import Axis, Cells, ValueFormat, share, shares
from tfmviz.record.trace import Array, Trace
from tfmviz.text.familiar import MET, Familiar
from tfmviz.ui import head_comparison as both
from tfmviz.ui import icons, inputs, lesson, side, translators, url
from tfmviz.ui.figures import show, show_view
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext, control_row
from tfmviz.ui.translators import SAID, TRANSFORMER, alignment, source_of, written
from tfmviz.words import markdown
from tfmviz.words.labels import END, START, UNKNOWN, quoted, visible
from tfmviz.words.numbers import per_cent

NAMED = 6
"""Unknown words that are listed."""

SHOWN = 80
"""Characters shown of a source that is not read as it was typed."""


def say(ctx: PageContext) -> None:
    if ctx.text.isupper() and not (read := ctx.model.tokenizer.spelled(ctx.text)).isupper():
        shown = markdown.plain(read if len(read) <= SHOWN else f"{read[:SHOWN]} …")
        st.info(f"Text in all capitals is read in lower case: “{shown}”", icon=icons.INFO)
    if (familiar := _familiar(ctx.model.name)) is None:
        return
    doubt = familiar.doubt(ctx.text)
    if doubt.is_foreign:
        listed = ", ".join(markdown.plain(word[:20]) for word in doubt.unknown[:NAMED])
        more = " …" if len(doubt.unknown) > NAMED else ""
        which = f" It does not know {listed}{more}." if doubt.unknown else ""
        rule = f"fewer than two thirds of its words occur at least {MET} times in training"
        st.info(f"This does not look like French: {rule}.{which}", icon=icons.INFO)
    elif doubt.is_long:
        st.info(
            f"The source has {doubt.n_words} words; 99% of the training sentences have at most {familiar.longest}.",
            icon=icons.INFO,
        )
    elif doubt.n_words == 1:
        found = ""
        if measured := familiar.single:
            found = (
                f" Of {measured.n} one-word sentences (“Bonjour !”) it translates {measured.as_they_are} as a "
                f"reference does, {measured.typed} if they are typed in lower case without punctuation."
            )
        st.info(
            f"This is a single word, and the model learned from sentences.{found} Put it into a sentence.",
            icon=icons.INFO,
        )


@st.cache_resource(show_spinner=False)
def _familiar(name: str) -> Familiar | None:
    return Familiar.load(zoo.MODELS / name)


ONE, LAYER, ALL = "one head", "mean of the layer", "mean of all layers"


def choose() -> str:
    which = inputs.segmented_control("Attention of", (ONE, LAYER, ALL), default=LAYER, key="heads")
    if which != ONE:
        lesson.hide("head", *["layer"] * (which == ALL))
    return which


def crossing(ctx: PageContext, trace: Trace, which: str) -> Array:
    """(q_len, k_len): attention of the written words to the source; rows sum to 1."""
    own = f"decoder.{ctx.choice.layer_index}.cross_attn.pattern"
    if which == ONE:
        return trace[own][ctx.choice.head]
    layers = [own] if which == LAYER else [f"{layer}.pattern" for layer in trace.layers if layer.endswith("cross_attn")]
    return np.mean([trace[layer].mean(axis=0) for layer in layers], axis=0)


def named(ctx: PageContext, which: str) -> str:
    layer = f"layer {ctx.choice.layer_index}"
    return {
        ONE: f"Cross-attention of {layer}, head {ctx.choice.head}",
        LAYER: f"Cross-attention of {layer}, mean of its heads",
        ALL: "Cross-attention, mean of all layers and heads",
    }[which]


def reads(trace: Trace) -> list[str]:
    """The token last read by the decoder at every step: its own words, shifted right by one."""
    return [START, *(visible(token) for token in trace.tokens[1:])]


def writes(trace: Trace) -> list[str]:
    """The token written at every step. The last is the end token, unless the text was cut off."""
    ends = int(trace.row("logits", -1).argmax()) == trace.target.ids[0]
    return [*reads(trace)[1:], END if ends else UNKNOWN]


def sources(trace: Trace) -> list[str]:
    assert trace.source is not None
    return [visible(token) for token in trace.source.tokens]


def encoder(ctx: PageContext, which: str) -> None:
    layer, names = ctx.choice.layer_index, sources(ctx.trace)
    patterns = [ctx.trace[f"encoder.{n}.self_attn.pattern"] for n in range(ctx.model.config.n_layers)]
    of_layer = patterns[layer]
    pattern, of = {
        ONE: (of_layer[ctx.choice.head], f"layer {layer}, head {ctx.choice.head}"),
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
    texts, form = shares(weights), ValueFormat(digits=3)
    return Cells(weights[None], rows, columns, share(), form=form, titles=(title,), texts=texts, square=True)


def apart(sides: HeadComparison) -> None:
    """The divergence of the two translations, and the chosen head's attention in each."""
    both.show_texts(sides.titles, [writes(side.trace) for side in sides.lessons], "the translation")
    st.markdown(f"{both.summary_text(sides)} {both.how(sides)}")
    both.show_heads(sides)


def crossing_of(side: PageContext) -> PageContext:
    """The same as `crossing`, of the chosen layer, with a separate translation."""
    layers = [layer for layer in side.model.config.layers if layer.endswith("cross_attn")]
    layer = layers[min(side.choice.layer_index, len(layers) - 1)]
    return replace(side, choice=replace(side.choice, layer=layer), writes_with_edits=True)


def compare(ctx: PageContext) -> None:
    recurrent = {kind: model for kind, model in translators.loadable().items() if kind != "none"}
    if ctx.model.name != TRANSFORMER or not recurrent:
        st.info(
            f"This tab compares `{TRANSFORMER}` with the models `seq2seq-…`, which also read French.", icon=icons.INFO
        )
        return
    with control_row("aligned"):
        which = choose()
    found = [(ctx.trace, crossing(ctx, ctx.trace, which), f"transformer, {which}", "transformer")]
    for kind, model in recurrent.items():
        trace = translators.trace(model, ctx.text)
        found.append((trace, trace["decoder.alpha"], SAID[kind], kind))
    for first in range(0, len(found), 2):
        for column, (trace, weights, title, key) in zip(st.columns(2), found[first : first + 2], strict=False):
            with column:
                source, tokens = source_of(trace), written(trace)
                show(
                    f"aligned_{key}",
                    alignment(weights, title, source, tokens, len(tokens)),
                    follows=key != "transformer",
                )
    largest = max(model.config.n_parameters for model in recurrent.values())
    st.markdown(
        f"The recurrent translators have at most {per_cent(largest / ctx.model.config.n_parameters)} of the "
        "transformer's parameters: compare where they look."
    )


def draw(ctx: PageContext) -> None:
    with control_row("heads"):
        which = choose()
    trace, about = ctx.trace, ctx.short_name
    if not side.is_b():
        url.keep_for(about, "shown", "at")
    weights = crossing(ctx, trace, which)
    p = softmax(trace["logits"])
    tokens = [*trace.target.ids[1:], int(p[-1].argmax())]
    data = {
        "about": about,
        "source": sources(trace),
        "steps": [
            {
                "reads": reads,
                "writes": writes,
                "p": _short(p[n, token]),
                "weights": [_short(weight) for weight in weights[n]],
            }
            for n, (reads, writes, token) in enumerate(zip(reads(trace), writes(trace), tokens, strict=True))
        ],
        "heads": named(ctx, which),
    }
    show_view(
        "translating",
        data=data,
        selection={"shown": url.number("shown"), "step": url.number("at")},
        on_report=lambda report: _follow(about, report),
    )
    encoder(ctx, which)
    if ctx.model.name == TRANSFORMER and zoo.translators():
        address = urlencode({"seen": "Alignments", "text": ctx.text})
        st.markdown(f"[Recurrent translators align the same sentence](./bottleneck?{address}).")


def _short(share: float) -> float:
    """Four significant digits; NaN and infinities are 0."""
    return float(f"{share:.4g}") if np.isfinite(share) else 0.0


def _follow(about: str, report: dict[str, Any]) -> None:
    if report["about"] == about:
        shown, step = report["shown"], report["step"]
        url.put({"shown": "" if shown is None else str(int(shown)), "at": "" if step is None else str(int(step))})
