from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import mask_effect
from tfmviz.analysis.heads import allowed
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.plots.cells import Axis, Scale, ValueFormat, amounts, of_pairs, of_tokens, written
from tfmviz.record.edits import SetMask
from tfmviz.record.model import Model
from tfmviz.ui import before_after, icons, inputs, models
from tfmviz.ui import head_comparison as both
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_columns, show_matrix
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.masks import Chosen
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, said_of_queries
from tfmviz.words.numbers import counted, decimal


def both_masks(
    ctx: PageContext, ctx_b: PageContext, chosen: Chosen, layers: tuple[str, ...], heads: tuple[bool, ...] | None
) -> HeadComparison:
    """The runs before and after."""
    is_put = ctx.choice.layer in layers and (heads is None or heads[ctx.choice.head])
    sides = both.compare(ctx, ctx_b, ("A, own mask", "B, your mask") if ctx_b.edits else ("Own mask",) * 2)
    return replace(sides, blind=tuple(chosen.empty) if is_put else ())


def verdict(sides: HeadComparison, chosen: Chosen) -> None:
    """The effect in words: empty rows, loss, and the positions that can see the answer."""
    ctx = sides.lessons[0]
    before, after = (side.trace for side in sides.lessons)
    if chosen.empty:
        said = said_of_queries(before, ctx.choice.layer)
        names = ", ".join(f"{row} {markdown.plain(said[row])}" for row in chosen.empty[:6])
        way_out = "itself" if chosen.mask.shape[0] == chosen.mask.shape[1] else "the first key"
        st.warning(
            f"Row {names}{' …' if len(chosen.empty) > 6 else ''} may look at nothing: a softmax over no keys is "
            f"0/0. Here it may look at {way_out}.",
            icon=icons.WARNING,
        )
    if "decoder.0.self_attn.pattern" not in before:
        st.markdown(before_after.NO_NEXT_WORD)
        return
    old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids) for run in (before, after))
    if not len(old):
        st.markdown(before_after.ONE_TOKEN)
        return
    compared = f" in A, **{new.mean():.2f}** in B" if sides.differ else ""
    result(f"Mean surprise at the next word of {before_after.predicted(ctx)}: **{old.mean():.2f}** nats{compared}.")
    if before.source is not None and not ctx.choice.layer.endswith("self_attn"):
        st.markdown("The source does not contain the answer.")
        return
    self_layers = [layer for layer in after.layers if layer.startswith("decoder.") and layer.endswith("self_attn")]
    answers = mask_effect.seen_answers(mask_effect.layers_to_reach([allowed(after, layer) for layer in self_layers]))
    if not len(answers):
        st.markdown("No position can see the word it has to predict.")
        return
    st.markdown(
        f"**{len(answers)} of {len(old)} positions can see the very word they have to predict.** "
        f"{_trained_without(ctx)}"
    )


def _trained_without(ctx: PageContext) -> str:
    found = unmasked_losses(ctx.text) if ctx.trace.source is None else None
    learned = "This model never learned to copy later words."
    if ctx.model.config.training_mask == "none":
        learned = "This model was trained without a mask and learned to copy later words."
    if found is None:
        return f"{learned} A model *trained* this way would learn only to copy."
    who = f"`{UNMASKED}`, *trained* without a mask, did: here"
    if ctx.model.name == UNMASKED:
        who = "Here"
    seeing, without, of_twin = found
    return (
        f"{learned} {who} its loss is **{seeing:.2f}** nats when it sees the next word, **{without:.2f}** without; "
        f"its twin with the mask has {of_twin:.2f}."
        f"{before_after.of_twins(ctx.text)}"
    )


def attention(sides: HeadComparison) -> None:
    ctx, ctx_b = sides.lessons
    layer, head, token = ctx.choice.layer, ctx.choice.head, sides.query
    if sides.differ:
        st.markdown(f"{both.summary_text(sides)} {both.how(sides)}")
        shown = list(zip((" in A", " in B"), sides.lessons, strict=True))
    else:
        st.markdown("This is the model's own mask.")
        shown = [("", ctx)]
    both.show_heads(sides, is_narrow=True)
    columns = {"key": [f"{n} {name}" for n, name in enumerate(both.key_names(ctx))]}
    for name, site in (("score", "scores"), ("share", "pattern")):
        for side, lesson in shown:
            values = lesson.trace[f"{layer}.{site}"][head, token]
            columns[f"{name}{side}"] = ["−∞" if value == -np.inf else decimal(value, ".3f") for value in values]
    asks = said_of_queries(ctx.trace, layer)[token]
    show_columns("mask_scores", columns, caption=f"{asks}, key by key.", low=True)
    row = ctx_b.trace[f"{layer}.pattern"][head, token]
    st.markdown(f"The row{' of B still' if sides.differ else ''} sums to **{row.sum():.3f}**.")
    outputs(sides)


def outputs(sides: HeadComparison) -> None:
    (ctx, ctx_b), stack = sides.lessons, both.stack_of(sides.lessons[0])
    before = ctx.trace
    moved = mask_effect.stream_change(before, ctx_b.trace, stack)
    if not moved.any():
        return
    tokens = before.axes(f"{stack}.0.self_attn")[0].tokens
    names, most = quoted(tokens), int(moved[-1].argmax())
    scale = amounts(moved, "change of the vector, as a share of its length", ticks="per cent")
    form = ValueFormat(name="moved by ", digits=1, percent=True, unit=" of its length")
    show_matrix("stream_change", moved, Axis("after layer"), of_tokens("token", tokens), scale, form=form)
    result(
        f"After the last layer the vectors have moved by {moved[-1].mean():.0%} of their length on average, "
        f"{markdown.plain(names[most])} most ({moved[-1, most]:.0%})."
    )


def reach(ctx: PageContext, chosen: Chosen) -> None:
    """Pairs of tokens of which one can influence the other after some layers with this mask."""
    layer = ctx.choice.layer
    n_layers = ctx.model.config.depth(layer.split(".")[0])
    if chosen.mask.shape[0] != chosen.mask.shape[1] or layer.endswith("cross_attn"):
        st.info("Cross-attention reads everything in one step. Choose self-attention.")
        return
    shown = inputs.slider("Layers", 1, n_layers, n_layers, key="depth") if n_layers > 1 else 1
    steps = mask_effect.layers_to_reach([chosen.mask] * shown)
    tokens = ctx.trace.axes(layer)[0].tokens
    count, after = int((steps != mask_effect.OUT_OF_REACH).sum()), counted(shown, "layer")
    within = f"{count} of {steps.size} pairs {'is' if count == 1 else 'are'} within reach"
    values = np.where(steps != mask_effect.OUT_OF_REACH, steps, np.nan)
    scale = Scale("norms", 0, shown, "layers until the key can influence the query", ticks="whole")
    form = ValueFormat(name="layers: ", digits=0)
    show("reach", of_pairs(values[None], tokens, tokens, scale, form=form, texts=written(values, ".0f")))
    needed, everything = mask_effect.layers_needed(chosen.mask)
    reached = "every token" if everything else "everything reachable"
    enough = f"**One** layer already reaches {reached}" if needed == 1 else f"**{needed}** layers reach {reached}"
    enough = f"{enough}; this model has {n_layers}" if needed else "Each token reaches only itself"
    result(f"After {after} {within}. {enough}.")


def next_words(sides: HeadComparison) -> None:
    ctx, ctx_b = sides.lessons
    st.markdown(both.expected(sides))
    before_after.next_words(ctx, ctx_b.trace, both.targets(sides)[0], series=sides.titles)


def losses(sides: HeadComparison) -> None:
    ctx, ctx_b = sides.lessons
    before_after.losses(ctx, ctx_b.trace)


UNMASKED, MASKED = "twins-unmasked", "twins-rope"
"""Twins trained without and with the mask."""


def unmasked_losses(text: str) -> tuple[float, float, float] | None:
    """Mean losses at the next word, in nats; None if a twin is missing, or the text has no next word.

    Of the twin trained without a mask where it sees everything, as in training, and where it sees only the past, as a
    writer does; of the one trained with the mask, where it sees only the past.
    """
    if not {UNMASKED, MASKED} <= set(zoo.available()):
        return None
    return _losses(models.load(UNMASKED), models.load(MASKED), text)


@cached_for_all
def _losses(unmasked: Model, masked: Model, text: str) -> tuple[float, float, float] | None:
    length = len(unmasked.encode(text))
    if length < 2:
        return None
    everything = ((True,) * length,) * length
    sees_all = tuple(SetMask(layer=layer, mask=everything) for layer in unmasked.config.layers)
    return _mean(unmasked, text, sees_all), _mean(unmasked, text), _mean(masked, text)


def _mean(model: Model, text: str, edits: tuple[SetMask, ...] = ()) -> float:
    trace = model.trace(text, edits, sites=("logits",))
    return float(np.mean(next_token_losses(trace["logits"], trace.target.ids)))
