from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis import residual
from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.analysis.in_context import again
from tfmviz.analysis.in_context import in_context as compared
from tfmviz.analysis.residual import InSpace
from tfmviz.plots import space
from tfmviz.plots.cells import ValueFormat, amounts, chosen_column, named, of_tokens
from tfmviz.plots.lines import Axes
from tfmviz.plots.paths import bumps, by_stage
from tfmviz.plots.space import View, Way
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, seen_from, show, show_curves, show_matrix, show_pairs, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.sentences import examples_for
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import counted, decimal, per_cent


def lengths(ctx: PageContext) -> None:
    trace, choice, token = ctx.trace, ctx.choice, ctx.query
    stack, tokens = choice.layer.split(".")[0], trace.axes(choice.layer)[0].tokens
    with lesson.control_row("token"):
        controls.token_box([visible(t) for t in tokens], token)
    stages = residual.stages(trace, stack, "steps")
    values = residual.lengths(trace, list(stages.values()))
    show("growth", by_stage(values, stages=list(stages), tokens=tokens, position=token, theme=theme()))
    first, last = values[0].mean(), values[-1].mean()
    kind = (
        "Pre-norm: every layer adds to the stream"
        if is_pre_norm(trace)
        else "Post-norm: a norm after every layer resets it"
    )
    st.markdown(
        f"{kind}. The mean norm goes from **{first:.2f}** to **{last:.2f}**, a factor of "
        f"{last / max(first, 1e-12):.3g}."
    )
    _outlier_in_words(values, list(stages), tokens[0])
    show_matrix(
        "lengths",
        values,
        named(list(stages)),
        of_tokens("token", tokens),
        amounts(values, "norm of the vector"),
        form=ValueFormat(name="norm ", digits=2),
        frames=chosen_column(token, len(values)),
    )
    st.markdown(
        f"{markdown.plain(quoted(tokens)[token])} before and after each norm. "
        + ("The layers read a normalised copy." if is_pre_norm(trace) else "The normalised vector replaces the stream.")
    )
    norms = residual.normalisations(trace, stack)
    before, after = (
        np.array([np.linalg.norm(pair[side][token]) for pair in norms.values()], dtype=float) for side in (0, 1)
    )
    show_pairs(
        "norms_before_after",
        list(norms),
        before,
        after,
        series=("before the norm", "after it"),
        title="norm",
        token_title="the norm of layer",
    )


def _outlier_in_words(values: Array, stages: list[str], first: str) -> None:
    if values.shape[1] < 2:
        return
    stage, factor = residual.outlier(values)
    name, where = markdown.plain(visible(first)), stages[stage]
    where = "in the embedding" if stage == 0 else f"after {where}"
    if factor >= 2.0:
        result(f"**The first token “{name}” stands out**: {where} its norm is {factor:.1f} times the others' median.")
    else:
        result(f"The first token “{name}” is no outlier: at most {factor:.2f} times the others' median, {where}.")


MOST_PATHS = 40
"""Tokens whose paths are drawn: the first ones, and the chosen one."""


NEAREST = 5


def neighbours(ctx: PageContext) -> None:
    tokens = [visible(token) for token in ctx.trace.axes(ctx.choice.layer)[0].tokens]
    line = lesson.control_row("token")
    with line:
        controls.token_box(tokens, ctx.query)
    ways = ["nearest tokens", "in space"]
    way = inputs.segmented_control("Draw", ways, key="drawn_as", required=True, line=line)
    if way == ways[1]:
        paths(ctx, tokens, seen_from(line))
    else:
        nearest(ctx, tokens)


def nearest(ctx: PageContext, tokens: list[str]) -> None:
    trace, chosen = ctx.trace, ctx.query
    stages = residual.stages(trace, ctx.choice.layer.split(".")[0], "layers")
    result(_alike(trace, stages, tokens, chosen))
    if len(tokens) == 1:
        return
    found = [residual.nearest(trace[site].astype(float), chosen) for site in stages.values()]
    order, cosines = (np.array([each[:NEAREST] for each in part]) for part in zip(*found, strict=True))
    names = ["embedding", *(f"layer {n}" for n in range(len(stages) - 1))]
    drawing = bumps(order, cosines, stages=names, tokens=tokens, theme=theme())
    show("nearest", drawing, title=f"The {counted(order.shape[1], 'token')} nearest to {quoted(tokens)[chosen]}")


def paths(ctx: PageContext, tokens: list[str], seen: View) -> None:
    """Each token's vector after each layer, along the three directions with most of their differences."""
    trace, stack, chosen = ctx.trace, ctx.choice.layer.split(".")[0], ctx.query
    names, stages = quoted(tokens), residual.stages(trace, stack, "layers")
    found = _in_space(ctx.model, ctx.text, stack, ctx.edits)
    sentence = _alike(trace, stages, tokens, chosen)
    shown = [n for n in range(len(tokens)) if n < MOST_PATHS or n == chosen]
    figure = space.ways(
        [_way(tokens[n], names[n], found.places[:, n], list(stages), stands_out=n == chosen) for n in shown],
        axes=("1st direction", "2nd direction", "3rd direction"),
        title="Where each token's vector is after each layer",
        seen_from=seen,
        stages=["embedding", *(str(n) for n in range(len(stages) - 1))],
        theme=theme(),
    )
    show("paths", figure, alt=f"Paths of {len(shown)} tokens. {sentence}")
    result(f"{sentence} The three directions hold {per_cent(float(found.shares.sum()))} of the vectors' variance.")


def _way(token: str, name: str, places: Array, stages: Sequence[str], *, stands_out: bool) -> Way:
    look = theme()
    return Way(
        name=name,
        points=places,
        tooltips=[f"{name}, {stage}" for stage in stages],
        colour=look.accent if stands_out else look.masked,
        width=10 if stands_out else 4,
        label=token,
        stands_out=stands_out,
        dots=np.ones(len(places), bool),
        steps=np.arange(len(places)),
        in_legend=False,
    )


@cached_for_all
def _in_space(model: Model, text: str, stack: str, edits: tuple[Edit, ...]) -> InSpace:
    trace = models.trace(model, text, edits)
    return residual.in_space(trace, list(residual.stages(trace, stack, "layers").values()))


def _alike(trace: Trace, stages: Mapping[str, str], tokens: list[str], chosen: int) -> str:
    if len(tokens) == 1:
        return "A single token has no neighbours. Type more."
    (_, first), *_, (last, site) = stages.items()
    start = "As an embedding with its position" if _adds_positions(trace, first) else "As an embedding"
    (near, cosine), (then, later) = (residual.closest(trace[place].astype(float), chosen) for place in (first, site))
    name, near_name, then_name = (markdown.plain(quoted(tokens)[n]) for n in (chosen, near, then))
    return (
        f"{start}, {name} is most like {near_name} (cosine {decimal(cosine)}); {last}, it is most like "
        f"{then_name} ({decimal(later)})."
    )


def _adds_positions(trace: Trace, site: str) -> bool:
    """In this site's stack the first vectors are more than the words' embeddings."""
    return f"{site.split('.')[0]}.pos_embed" in trace


BANKS = "We sat on the bank of the river. The money is in the bank of the town."
"""One word in two senses; the tab opens with it."""


def opens() -> str:
    usual = examples_for(controls.choice().model)[0].text
    own = BANKS if usual == examples_for("")[0].text else usual  # in English
    return controls.opens_with(own, usual, row="stream", tab="In context")


KEPT = Table(
    caption="What each model passes on to the next task",
    columns=("model", "kept", "learned first → trained for the task"),
    rows=(
        ("CoVe 2017", "last states", "to translate → the task's own network alone"),
        ("ELMo 2018", "sum of layers", "next and previous words → weights of the sum, the task's own network"),
        ("ULMFiT 2018", "the model", "next words → all of it, layer after layer"),
        ("BERT 2018", "the model", "hidden words, next sentences → all of it, and one new layer"),
    ),
    about="McCann et al., Peters et al., Howard and Ruder, Devlin et al. Next-sentence prediction asks whether B "
    "follows A in the text. RoBERTa (Liu et al. 2019) left it out and lost nothing.",
)


def in_context(ctx: PageContext) -> None:
    tokens = ctx.trace.axes(ctx.choice.layer)[0]
    if len(tokens.ids) < 2:
        st.info("Type at least two tokens.", icon=icons.INFO)
    else:
        names = [visible(token) for token in tokens.tokens]
        first, ids = ctx.query, tokens.ids
        if not ctx.is_chosen and again(ids, first) is None:
            twice = [at for at in range(len(ids)) if again(ids, at) is not None]
            first = max(twice, key=lambda at: len(tokens.tokens[at].strip()), default=first)
        other, asked = again(ids, first), controls.pinned("to")
        if asked is not None:
            other = min(asked, len(ids) - 1)
        first, second = (first, (first + 1) % len(ids) if other is None else other)
        with lesson.control_row("in_context"):
            controls.token_box(names, first, label="This token")
            controls.other_box(names, second, label="and this one")
        found = compared(ctx.trace, ctx.choice.layer.split(".")[0], tokens.ids, (first, second))
        x = np.arange(float(len(found.stages)))
        values = {
            "each other": found.each_other,
            f"{names[first]} {first}, its embedding": found.static[0],
            f"{names[second]} {second}, its embedding": found.static[1],
            "any two tokens": found.usual,
        }
        show_curves(
            "in_context",
            {name: (x, line) for name, line in values.items()},
            Axes("layers completed", "cosine", 330),
            lambda name, at, value: f"{name}, {found.stages[int(at)]}: {decimal(value)}",
            words=[name.replace(", ", ",\n") for name in values],
        )
        a, b = (markdown.plain(quoted(tokens.tokens)[at]) for at in (first, second))
        start, end = (decimal(float(found.each_other[at])) for at in (0, -1))
        embeddings = "one embedding" if ids[first] == ids[second] else "two embeddings"
        result(
            f"**{a} and {b} have {embeddings} and, in context, two vectors.** Their cosine is {start} at the start"
            f"{', with their positions,' if _adds_positions(ctx.trace, ctx.choice.layer) else ''} and {end} after the "
            f"last layer, where different tokens average {decimal(float(found.usual[-1]))}."
        )
    show("kept", KEPT)
