"""One token through the feed-forward layer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import feed_forward
from tfmviz.analysis.feed_forward import Part
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, named, signed
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import shades
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import FeedForwardWeights
from tfmviz.ui import controls, icons, inputs, models, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_code, show_matrix, show_view, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.views import feed_forward as view
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, per_cent, tiny


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MLPContext:
    """`site`: path of the layer, such as "decoder.2.mlp". `tokens`: of the text that its stack reads."""

    ctx: PageContext
    site: str
    weights: FeedForwardWeights
    tokens: tuple[str, ...]
    token: int

    @property
    def stack(self) -> str:
        return self.site.split(".")[0]

    @property
    def post(self) -> Array:
        """(d_ff,), the chosen token's neurons, after the function and the gate."""
        return self.ctx.trace[f"{self.site}.post"][self.token]

    @property
    def name(self) -> str:
        return markdown.plain(quoted(self.tokens)[self.token])

    @property
    def is_read_out(self) -> bool:
        """The vocabulary is read from this stack; an encoder that feeds a decoder is never read out."""
        return self.stack == self.ctx.model.writes_from


def predicts(ctx: PageContext) -> bool:
    """Some checkpoints end with their last vectors."""
    return "logits" in ctx.trace


def site_of(ctx: PageContext) -> str:
    stack, index, _ = ctx.choice.layer.split(".")
    return f"{stack}.{index}.mlp"


def why_none(ctx: PageContext) -> str:
    stacks = ctx.model.weights.stacks.values()
    if n_experts := next((len(layer.experts) for stack in stacks for layer in stack.experts.values()), 0):
        return (
            f"has {n_experts} feed-forward layers in each block, of which a token uses "
            f"{ctx.model.config.feed_forward.n_chosen}. Choose another model above, or see “Size”."
        )
    return "has no feed-forward layers. Choose another model above, or see “Without it”."


def with_layer(draw: Callable[[MLPContext], object]) -> Callable[[PageContext], object]:
    """A tab with the choice of its token, or the reason why there is nothing to draw."""

    def tab(ctx: PageContext) -> object:
        site = site_of(ctx)
        if (weights := ctx.model.weights.stacks[site.split(".")[0]].feed_forward.get(site)) is None:
            return st.info(f"{markdown.code(ctx.model.name)} {why_none(ctx)}", icon=icons.INFO)
        if not np.isfinite(ctx.trace[f"{site}.out"]).all():
            return st.warning("This layer's values are not finite, so there is nothing to explain.")
        tokens = ctx.trace.axes(ctx.choice.layer)[0].tokens
        return draw(MLPContext(ctx=ctx, site=site, weights=weights, tokens=tokens, token=ctx.query))

    return tab


COORDINATES = 64
"""Of a vector that are drawn."""

PLACE = re.compile(r"(x|gate|pre|post|out|before|after)\.([0-9]{1,6})")


def through(subject: MLPContext) -> None:
    ctx, site, token = subject.ctx, subject.site, subject.token
    part, index = chosen(subject)
    found = {name: values[token] for name, values in feed_forward.parts(ctx.trace, site).items()}
    total = feed_forward.sum_of(subject.weights, found, part, index)
    show_view(
        "feed_forward",
        data=_payload(ctx.model, ctx.text, site, token, ctx.edits),
        selection={
            "at": view.place(part, index),
            "sum": view.answer(ctx.trace, site, token, total, title=ctx.model.name),
        },
        on_report=follow,
    )
    controls.token_box(subject.tokens, token)
    in_words(subject, found)


def chosen(subject: MLPContext) -> tuple[Part, int]:
    """The number that the address names, else the strongest neuron's sum."""
    asked = url.match("number", PLACE)
    if asked is None or (asked[1] == "gate" and subject.weights.W_gate is None):
        return "pre", int(feed_forward.strongest(subject.post, 1)[0])
    part: Part = next(name for name in feed_forward.PARTS if name == asked[1])
    size = len(subject.post) if part in ("gate", "pre", "post") else len(subject.weights.b_out)
    return part, min(int(asked[2]), size - 1)


def follow(report: dict[str, Any]) -> None:
    if PLACE.fullmatch(at := str(report["at"])):
        url.put({"number": at})


@cached_for_all
def _payload(model: Model, text: str, site: str, token: int, edits: tuple[Edit, ...]) -> bytes:
    trace, stack = models.trace(model, text, edits), site.split(".")[0]
    source = trace.source if stack == "encoder" and trace.source else trace.target
    weights = model.weights.stacks[stack].feed_forward[site]
    return view.payload(trace, site, token, weights, label=quoted(source.tokens)[token], title=model.name)


def in_words(subject: MLPContext, found: dict[Part, Array]) -> None:
    weights = subject.weights
    d, d_ff = weights.W_in.shape
    matrices = (weights.W_in, weights.b_in, weights.W_out, weights.b_out, weights.W_gate, weights.b_gate)
    n_weights = sum(array.size for array in matrices if array is not None)
    on = int((found.get("gate", found["pre"]) > 0).sum())
    what = "gates" if "gate" in found else "values before the function"
    before, after = (float(np.linalg.norm(found[name])) for name in ("before", "after"))
    post_norm = subject.ctx.model.config.norm.position == "post"
    norm = ", before the norm that follows rescales it" if post_norm else ""
    result(
        f"From {d:,} to {d_ff:,} coordinates, **{d_ff / d:.3g} times** as many, and back, with "
        f"{n_weights:,} parameters. For {subject.name} **{on:,} of {d_ff:,}** {what} are above 0. The layer's output "
        f"takes the norm of the stream from {before:.2f} to {after:.2f}{norm}."
    )


def moved(subject: MLPContext) -> None:
    ctx, last = subject.ctx, len(subject.tokens) - 1
    if last < 1:
        st.info("Type at least two words.")
        return
    figure = st.container()
    left, right = st.columns([1, 2])
    with left:
        controls.token_box(subject.tokens, subject.token)
    with right:
        to = inputs.slider("Move it to position (0: the front)", 0, last, 0, key="place")
    order = np.insert(np.delete(np.arange(last + 1), subject.token), to, subject.token)
    out = ctx.trace[f"{subject.site}.out"]
    x = feed_forward.parts(subject.ctx.trace, subject.site)["x"][order]
    again = feed_forward.run(subject.weights, x.astype(np.float64))
    both = np.stack([out[subject.token], again[to]])[:, :COORDINATES]
    rows = [f"{visible(subject.tokens[subject.token])} at {at}" for at in (subject.token, to)]
    values, whole = np.stack([*both, both[1] - both[0]]), out.shape[1]
    n = values.shape[1]
    columns = Axis(f"the first {n} of {whole} coordinates" if n < whole else "coordinate")
    scale = signed(values, "output of the layer", root=True)
    with figure:
        show_matrix("moved", values, named([*rows, "difference"]), columns, scale, row_height=56)
    if to == subject.token:
        st.markdown("Choose another position.")
        return
    apart = float(np.abs(again - out[order]).max())
    result(f"Every token's output has moved with it, and is otherwise the same, to within {tiny(apart)}.")


def code() -> None:
    show_code(feed_forward.run)


COMPARED = {"ReLU": feed_forward.relu, "GELU": feed_forward.gelu, "SiLU": feed_forward.silu}

DRAWN, RUG = (-4.0, 3.0), -0.4
"""The inputs between which the curves differ, and the height of the dots, below them all."""

DOTS = 200


def functions(subject: MLPContext) -> None:
    weights, trace = subject.weights, subject.ctx.trace
    own = feed_forward.name_of(weights)
    inputs = feed_forward.driver(trace, subject.site)[subject.token].astype(np.float64)
    shown = np.sort(inputs)[np.linspace(0, len(inputs) - 1, min(len(inputs), DOTS)).round().astype(int)]
    outside = int(((shown < DRAWN[0]) | (shown > DRAWN[1])).sum())
    few = f" The dots are {DOTS} of them, evenly spaced by rank." if len(inputs) > DOTS else ""
    few += f" The picture leaves out {outside} of the dots." if outside else ""
    named = COMPARED | {own: feed_forward.function_of(weights)}

    def at(name: str, x: float, _: float) -> str:
        return f"{name}({decimal(x)}) = {decimal(float(named[name](np.array([x]))[0]))}"

    x, colours = np.linspace(*DRAWN, 161), shades(len(named), theme())
    lines = [
        Line(name, x[::20], f(x[::20]), Stroke(colour, dash, 3 if name == own else 2), partial(at, name), (x, f(x)))
        for (name, f), colour, dash in zip(named.items(), colours, DASHES, strict=False)
    ]
    dots, none = shown[(shown >= DRAWN[0]) & (shown <= DRAWN[1])], np.array([])
    stroke, height = Stroke(theme().accent, width=0, dot=28), np.full(len(dots), RUG)
    lines.append(Line("this token's neurons", dots, height, stroke, partial(at, own), (none, none)))
    show("activations", line_chart(lines, Axes("value before the function", "value after it"), theme=theme()))
    controls.token_box(subject.tokens, subject.token)
    gated = " Here it acts on the gates, which then multiply the other half." if weights.W_gate is not None else ""
    result(
        f"This layer uses **{own}**.{gated} Of the {len(inputs):,} values of {subject.name}, "
        f"{per_cent(float((inputs > 0).mean()))} are above 0 ({decimal(inputs.min())} to {decimal(inputs.max())}).{few}"
    )
    st.markdown(
        r"SwiGLU has no curve: it multiplies two products, SiLU$(x W_\text{gate}) \odot x W_\text{in}$ (Shazeer 2020)."
    )
    sparsity(subject)


def sparsity(subject: MLPContext) -> None:
    trace, stack = subject.ctx.trace, subject.ctx.model.weights.stacks[subject.stack]
    shares = [float(feed_forward.share_on(trace, site).mean()) for site in stack.feed_forward]
    chart = bar_chart(
        [f"layer {n}" for n in range(len(shares))],
        100 * np.array(shares),
        "% of neurons above 0",
        words=[per_cent(share) for share in shares],
        colours=[theme().accent if site == subject.site else theme().mlp for site in stack.feed_forward],
        theme=theme(),
    )
    show("sparsity", chart, title="How many neurons are above 0? The mean over your tokens")
