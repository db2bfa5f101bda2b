"""What the reader's mask does to the model: the run before beside the run after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis import mask_effect
from tfmviz.plots.cells import Axis, Cells, Form, Scale, amounts, of_pairs, of_tokens, written
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import before_after, icons, inputs
from tfmviz.ui import sides as both
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.masks import unmasked
from tfmviz.ui.masks.lab import Chosen
from tfmviz.ui.sides import Sides
from tfmviz.views.counts import of_columns
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, said_of_queries
from tfmviz.words.numbers import counted, decimal


def both_masks(
    here: Lesson, there: Lesson, chosen: Chosen, layers: tuple[str, ...], heads: tuple[bool, ...] | None
) -> Sides:
    """The run before and the run after, with the mask in these layers and heads."""
    is_put = here.choice.layer in layers and (heads is None or heads[here.choice.head])
    sides = both.of(here, there, ("A, own mask", "B, your mask") if there.edits else ("Own mask",) * 2)
    return replace(sides, blind=tuple(chosen.empty) if is_put else ())


def verdict(sides: Sides, chosen: Chosen, layers: tuple[str, ...]) -> None:
    """The effect in words: empty rows, loss, and who can see the answer."""
    here = sides.lessons[0]
    before, after = (side.trace for side in sides.lessons)
    if chosen.empty:
        names = ", ".join(
            f"{row} {markdown.plain(said_of_queries(before, layers[0] if layers else before.layers[-1])[row])}"
            for row in chosen.empty[:6]
        )
        way_out = "itself" if chosen.mask.shape[0] == chosen.mask.shape[1] else "the first key"
        st.warning(
            f"Row {names}{' …' if len(chosen.empty) > 6 else ''} may look at nothing: a softmax over no keys is "
            f"0/0. Here it may look at {way_out}.",
            icon=icons.WARNING,
        )
    if "decoder.0.self_attn.pattern" not in before:
        st.markdown("This model has no next word to predict.")
        return
    old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids) for run in (before, after))
    if not len(old):
        st.markdown(before_after.ONE_TOKEN)
        return
    compared = f" in A, **{new.mean():.2f}** in B" if sides.differ else ""
    result(f"Mean surprise at the next word of {before_after.predicted(here)}: **{old.mean():.2f}** nats{compared}.")
    if before.source is not None and not here.choice.layer.endswith("self_attn"):
        st.markdown("The source does not contain the answer.")
        return
    self_layers = [layer for layer in after.layers if layer.startswith("decoder.") and layer.endswith("self_attn")]
    answers = mask_effect.seen_answers(mask_effect.layers_to_reach([_seen(after, layer) for layer in self_layers]))
    if not len(answers):
        st.markdown("No position can see the word it has to predict.")
        return
    st.markdown(
        f"**{len(answers)} of {len(old)} positions can see the very word they have to predict.** "
        f"{_trained_without(here)}"
    )


def _trained_without(here: Lesson) -> str:
    """Whether the model has learned to copy, and what becomes of one that does, as measured if there is one."""
    found = unmasked.losses(here.text) if here.trace.source is None else None
    learned = "This model never learned to copy later words."
    if here.model.config.training_mask == "none":
        learned = "This model was trained without a mask and learned to copy later words."
    if found is None:
        return f"{learned} A model *trained* this way would learn only to copy."
    who = f"`{unmasked.UNMASKED}`, *trained* without a mask, did: here"
    if here.model.name == unmasked.UNMASKED:
        who = "Here"
    return (
        f"{learned} {who} its loss is **{found.copying:.2f}** nats when it sees the next word, "
        f"**{found.writing:.2f}** without; its twin with the mask has {found.masked:.2f}."
        f"{before_after.of_twins(here.text)}"
    )


def _seen(trace: Trace, layer: str) -> Array:
    """What at least one head of a layer may see: (q_len, k_len)."""
    mask = trace[f"{layer}.mask"]
    return np.logical_or.reduce(mask, axis=0) if mask.ndim == 3 else mask


def attention(sides: Sides) -> None:
    """The chosen head with both masks, and the row of the chosen token key by key."""
    here, there = sides.lessons
    layer, head, token = here.choice.layer, here.choice.head, sides.query
    if sides.differ:
        st.markdown(f"{both.said(sides)} {both.how(sides)}")
        shown = list(zip((" in A", " in B"), sides.lessons, strict=True))
    else:
        st.markdown("This is the model's own mask.")
        shown = [("", here)]
    both.show_heads(sides, is_narrow=True)
    columns = {"key": [f"{n} {name}" for n, name in enumerate(both.key_names(here))]}
    for name, site in (("score", "scores"), ("share", "pattern")):
        for side, lesson in shown:
            values = lesson.trace[f"{layer}.{site}"][head, token]
            columns[f"{name}{side}"] = ["−∞" if value == -np.inf else decimal(value, ".3f") for value in values]
    asks = said_of_queries(here.trace, layer)[token]
    show("mask_scores", of_columns(columns, caption=f"{asks}, key by key.", low=True))
    row = there.trace[f"{layer}.pattern"][head, token]
    st.markdown(f"The row{' of B still' if sides.differ else ''} sums to **{row.sum():.3f}**.")
    outputs(sides)


def outputs(sides: Sides) -> None:
    """How far the vectors have moved, layer by layer."""
    (here, there), stack = sides.lessons, both.stack_of(sides.lessons[0])
    before = here.trace
    moved = mask_effect.stream_change(before, there.trace, stack)
    if not moved.any():
        return
    tokens = before.axes(f"{stack}.0.self_attn")[0].tokens
    names, most = quoted(tokens), int(moved[-1].argmax())
    scale = amounts(moved, "change of the vector, as a share of its length", ticks="per cent")
    form = Form(name="moved by ", digits=1, percent=True, unit=" of its length")
    show("stream_change", Cells(moved[None], Axis("after layer"), of_tokens("token", tokens), scale, form=form))
    result(
        f"After the last layer the vectors have moved by {moved[-1].mean():.0%} of their length on average, "
        f"{markdown.plain(names[most])} most ({moved[-1, most]:.0%})."
    )


def reach(here: Lesson, chosen: Chosen) -> None:
    """Who can influence whom after some layers with this mask."""
    layer = here.choice.layer
    n_layers = here.model.config.depth(layer.split(".")[0])
    if chosen.mask.shape[0] != chosen.mask.shape[1] or layer.endswith("cross_attn"):
        st.info("Cross-attention reads everything in one step. Choose self-attention.")
        return
    shown = inputs.slider("Layers", 1, n_layers, n_layers, key="depth") if n_layers > 1 else 1
    steps = mask_effect.layers_to_reach([chosen.mask] * shown)
    tokens = here.trace.axes(layer)[0].tokens
    count, after = int((steps != mask_effect.OUT_OF_REACH).sum()), counted(shown, "layer")
    within = f"{count} of {steps.size} pairs {'is' if count == 1 else 'are'} within reach"
    values = np.where(steps != mask_effect.OUT_OF_REACH, steps, np.nan)
    scale = Scale("norms", 0, shown, "layers until the key can influence the query", ticks="whole")
    form = Form(name="after ", digits=0, unit=" layers")
    show("reach", of_pairs(values[None], tokens, tokens, scale, form=form, texts=written(values, ".0f")))
    result(f"After {after} {within}. {_enough(*mask_effect.layers_needed(chosen.mask))}; this model has {n_layers}.")


def _enough(needed: int, everything: bool) -> str:
    """How many layers with this mask it takes until nothing more comes within reach."""
    reached = "every token" if everything else "everything reachable"
    if needed == 0:
        return "Each token reaches only itself"
    return f"**One** layer already reaches {reached}" if needed == 1 else f"**{needed}** layers reach {reached}"


def next_words(sides: Sides) -> None:
    """What is predicted after the chosen token, with both masks."""
    here, there = sides.lessons
    st.markdown(both.expected(sides))
    before_after.next_words(here, there.trace, both.targets(sides)[0], series=sides.titles)


def losses(sides: Sides) -> None:
    """Surprise at every next word, with both masks."""
    here, there = sides.lessons
    before_after.losses(here, there.trace)
