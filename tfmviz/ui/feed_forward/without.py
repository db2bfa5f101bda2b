from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis import attention_layer, mask_effect
from tfmviz.analysis.averaging import Average, in_a_plane
from tfmviz.plots.dots import average
from tfmviz.record.edits import Scale
from tfmviz.record.trace import Trace
from tfmviz.ui import before_after, controls, icons, inputs, lesson, models
from tfmviz.ui.feed_forward import predicts
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, per_cent

NOTHING = "nothing"
"""The target of a head's learned sink."""


def inside(ctx: PageContext) -> None:
    queries, keys = (axis.tokens for axis in ctx.trace.axes(ctx.choice.layer))
    if not np.isfinite(ctx.trace[f"{ctx.choice.layer}.z"]).all():
        return  # nothing to average
    if lesson.is_off(ctx, ctx.choice.layer, ctx.choice.head):
        return
    found, seen = of_head(ctx.trace, ctx.choice.layer, ctx.choice.head, ctx.query)
    more = [NOTHING] * (len(found.places) - len(seen))
    tokens, in_quotes = [keys[at] for at in seen] + more, quoted(keys)
    names = [in_quotes[at] for at in seen] + more
    asks = markdown.plain(quoted(queries)[ctx.query])
    best = int(found.weights.argmax())
    st.markdown(
        f"**A head can only average.** Whatever its weights, what it writes for {asks} (cross) stays inside the area "
        f"of the values; {markdown.plain(names[best])} pulls hardest, with weight {per_cent(found.weights[best])}. "
        "Without feed-forward layers a model only adds such averages, transformed by matrices and norms."
    )
    if len(found.around) < 3:
        st.caption("These values span no area. Type more words, or choose a later token.")
        return
    tooltips = [
        *(f"{name}: {per_cent(weight)}" for name, weight in zip(names, found.weights, strict=True)),
        "their average",
    ]
    points = found.places, found.weights, found.middle
    show("average", average(*points, around=found.around, tokens=tokens, tooltips=tooltips, theme=theme()))
    st.caption(
        f"Layer {ctx.choice.layer_index}, head {ctx.choice.head}, in the plane of the first two principal components "
        f"({per_cent(found.seen)} of the variance)."
    )


def of_head(trace: Trace, layer: str, head: int, query: int) -> tuple[Average, list[int]]:
    """The average that a head writes for a token, and the keys that this token may attend to."""
    seen = trace[f"{layer}.mask"][query].nonzero()[0].tolist()
    values = attention_layer.of_head(trace, layer, head, "v")
    return in_a_plane(values[seen], trace[f"{layer}.pattern"][head, query, seen]), seen


TWINS = ("twins-rope", "twins-attention-only")

SERIES = ("whole model", "feed-forward off")


PARTS = ("A head only averages", "Switched off", "Trained without")


def without(ctx: PageContext) -> None:
    part = inputs.segmented_control("Without it", PARTS, key="without_it", label_visibility="collapsed")
    if part == PARTS[1]:
        switched_off(ctx)
    elif part == PARTS[2]:
        twins(ctx)
    else:
        inside(ctx)


def switched_off(ctx: PageContext) -> None:
    stacks = ctx.model.weights.stacks.values()
    layers = [site for stack in stacks for site in (*stack.feed_forward, *stack.experts)]
    if not predicts(ctx):
        st.info(
            f"{markdown.code(ctx.model.name)} has no output vocabulary, so no prediction can change.", icon=icons.INFO
        )
    elif layers:
        st.markdown(f"**{markdown.code(ctx.model.name)} with its {counted(len(layers), 'feed-forward layer')} off.**")
        without = tuple(Scale(site=f"{layer}.out", factor=0.0) for layer in layers)
        off = models.trace(ctx.model, ctx.text, (*ctx.edits, *without))
        _compare(ctx, off, SERIES, key="off")
    else:
        st.info(f"{markdown.code(ctx.model.name)} has no feed-forward layers to switch off.", icon=icons.INFO)


def _compare(ctx: PageContext, after: Trace, series: tuple[str, str], *, key: str) -> None:
    if ctx.model.config.architecture != "encoder-only" and len(ctx.trace.tokens) > 1:
        old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids).mean() for run in (ctx.trace, after))
        result(
            f"Mean surprise at the words of {before_after.predicted(ctx)}: **{old:.2f}** nats ({series[0]}) in A, "
            f"**{new:.2f}** nats ({series[1]}) in B."
        )
        before_after.losses(ctx, after, key=f"losses_{key}")
    before_after.next_words(ctx, after, ctx.target, series=series, key=f"next_words_{key}")


def _on_held_out_text() -> str:
    full, bare = map(by_position, TWINS)
    if full is None or bare is None:
        return ""
    return f" On held-out text its mean surprise is **{bare.mean:.2f}** instead of **{full.mean:.2f}** nats per token."


def twins(ctx: PageContext) -> None:
    full, bare = (models.needed(name) for name in TWINS)
    if full is None or bare is None:
        return
    st.markdown(
        f"**Trained without.** {markdown.code(TWINS[1])} never had feed-forward layers: it was "
        f"trained like {markdown.code(TWINS[0])}, with {bare.weights.n_parameters:,} instead of "
        f"{full.weights.n_parameters:,} parameters.{_on_held_out_text()}{before_after.of_twins(ctx.text)}"
    )
    ctx_b = replace(ctx, model=full)
    controls.say_what_was_cut(ctx_b.trace.target, "The twins read")
    _compare(ctx_b, models.trace(bare, ctx.text), ("with feed-forward layers", "attention only"), key="twins")
