"""Two position schemes as A and B: models identical in everything else, on paper and on the reader's sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.heads import overlap
from tfmviz.plots import compare as figures
from tfmviz.plots.compare import Curve, Role
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import PositionEffects
from tfmviz.ui import comparison, head_comparison, icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.controls import Selection
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent, rounded

TRAINED = 64
"""Length of the twins' training texts, in tokens."""

FACTOR = 8
"""The curves reach this many times the trained length."""

ROUNDING = 1e-3
"""Smaller differences are rounding: scores are of the order of 1 to 10 with seven digits, and RoPE's angles lose some
of these at late positions.
"""

STRIDE = 4
"""Positions by which a pair of words moves from point to point."""

CUT_DIFFERENTLY = "The two models cut your text into different tokens."

ROLES: tuple[Role, Role] = ("left", "right")


def available() -> list[str]:
    names = zoo.available()
    return [scheme for scheme in SCHEMES if name_of(scheme) in names]


def name_of(scheme: str) -> str:
    return f"twins-{scheme}"


def scheme_of(model: Model) -> str:
    return model.config.positions.kind


def schemes(both: HeadComparison) -> tuple[str, str]:
    a, b = (scheme_of(ctx.model) for ctx in both.lessons)
    return a, b


def n_parameters(model: Model) -> int:
    return model.weights.stacks["decoder"].n_position_parameters


@cached_for_all
def effects(model: Model) -> PositionEffects:
    """Effects on a text of the trained length."""
    return model.position_effects("decoder", TRAINED)


def scores_from(model: Model, text: str, first: int, *, most: int | None = None) -> Array:
    """Scores of a twin, (layer, head, len, len), when the text begins at position `first`.

    Args:
        most: so many tokens are enough; None: all.
    """
    run = models.trace(model, text)
    if first:
        return _later(model, run.target.ids[:most], first)
    return np.stack([run[f"{layer}.scores"][:, :most, :most] for layer in run.layers])


@cached_for_all
def _later(model: Model, ids: tuple[int, ...], first: int) -> Array:
    return zoo.experiments.scores_from(model, ids, first=first)


def side_by_side(ctx: PageContext, first: tuple[str, str]) -> None:
    """Takes the place of a page's tabs. `first`: the schemes to begin with."""
    lesson.hide("model", "kind", "layer", "head")
    both = choose(ctx, first)
    st.markdown("The models differ only in their positions. Leave B for the tabs about one scheme.")
    attention(both)
    on_paper(both)
    if same_tokens(both):
        moving(both, *pair(both))


def choose(ctx: PageContext, first: tuple[str, str] = ("sinusoidal", "rope")) -> HeadComparison:
    """Stops the run if there are not two models to compare."""
    offered = available()
    if len(offered) < 2:
        models.needed(next(name_of(scheme) for scheme in SCHEMES if scheme not in offered))
        st.stop()
    line = lesson.control_row("duel")
    a, b = (
        inputs.selectbox(label, offered, index=offered.index(scheme) if scheme in offered else n, key=key, line=line)
        for n, (label, key, scheme) in enumerate(zip(("Scheme A", "Scheme B"), ROLES, first, strict=True))
    )
    twins = [models.load(name_of(scheme)) for scheme in (a, b)]
    counts = twins[0].config.n_layers, twins[0].config.attention.n_heads
    layer, head = (
        inputs.slider(f"{label} (A and B)", 0, count - 1, 0, key=key, line=line)
        for label, key, count in zip(("Layer", "Head"), ("twin_layer", "twin_head"), counts, strict=True)
    )
    one, other = (
        PageContext(
            choice=Selection(model=twin.name, layer=f"decoder.{layer}.self_attn", head=head), text=ctx.text, model=twin
        )
        for twin in twins
    )
    if one.trace.target.n_dropped:
        st.info(
            f"Only the first {TRAINED} tokens are read; “Longer texts” on “Sinusoidal or RoPE?” reads up to "
            f"{FACTOR * TRAINED}.",
            icon=icons.CUT,
        )
    return head_comparison.compare(one, other, (f"A, {a}", f"B, {b}"))


TOUCHES: dict[str | None, str] = {
    "embed": "the **embedding**, once, below the first layer",
    "rotate": "**queries and keys**, in every layer",
    "bias": "the **scores**, in every layer",
    "relate": "the **keys**, as each query sees them, in every layer",
    None: "**nothing**",
}


def on_paper(both: HeadComparison) -> None:
    comparison.draw("paper", both, _on_paper)
    if set(schemes(both)) == {"sinusoidal", "rope"}:
        st.markdown("Both use sines and cosines: sinusoidal **adds** them to the embeddings, RoPE **rotates** by them.")


def _on_paper(ctx: PageContext) -> None:
    _heat_map(ctx)
    facts = SCHEMES[scheme_of(ctx.model)]
    st.header(facts.title)
    st.markdown(facts.idea)
    st.code(facts.formula, language=None, wrap_lines=True)
    own, every = n_parameters(ctx.model), ctx.model.weights.n_parameters
    st.markdown(f"It acts on {TOUCHES[facts.acts]} and trains **{own:,}** of {every:,} parameters.")


def _heat_map(ctx: PageContext) -> None:
    did, head = effects(ctx.model), ctx.choice.head
    if did.added is not None:
        values, axes, title = did.added, ("dimension", "position"), "added to the embedding"
    elif did.turned is not None:
        values, axes, title = did.turned, ("coordinate", "position"), "cos, sin of each pair's turn"
    elif did.bias is not None:
        bias = did.bias[head]
        values, axes = np.where(np.tri(len(bias), dtype=bool), bias, np.nan), ("key", "query")
        title = f"added to the scores of head {head}"
    elif did.vectors is not None:
        values, axes, title = did.vectors[:TRAINED][::-1], ("coordinate", "distance i − j"), "added to the key"
    else:
        st.markdown("Nothing to draw.")
        return
    show("map", figures.scheme_map(values, title=f"{scheme_of(ctx.model)}: {title}", axes=axes))


def same_tokens(both: HeadComparison) -> bool:
    """Draws a note where the tokens differ."""
    a, b = both.lessons
    if a.trace.tokens != b.trace.tokens:
        st.info(CUT_DIFFERENTLY, icon=icons.INFO)
    return a.trace.tokens == b.trace.tokens


def pair(both: HeadComparison) -> tuple[int, int]:
    """Draws the choice of a query and of a key that comes no later: their positions."""
    ctx, _ = both.lessons
    with lesson.control_row("pair"):
        lesson.pair_boxes(ctx)
    return ctx.query, min(ctx.key, ctx.query)


def moving(both: HeadComparison, query: int, key: int) -> None:
    """A score as the whole text moves on, which shows the model's use of positions."""
    ctx, _ = both.lessons
    layer, head = ctx.choice.layer_index, ctx.choice.head
    firsts = range(0, TRAINED - query, STRIDE)  # while the query is within reach
    curves = []
    for role, one in zip(ROLES, both.lessons, strict=True):
        scores = [scores_from(one.model, one.text, first, most=query + 1)[layer, head, query, key] for first in firsts]
        curves.append(Curve(name=scheme_of(one.model), x=np.array(firsts) + query, y=np.array(scores), role=role))
    words = [quoted(ctx.trace.tokens)[place] for place in (query, key)]
    show(
        "moving",
        figures.moving(curves, theme=theme()),
        title=f"Score of {words[0]} and {words[1]} as the whole text shifts: layer {layer}, head {head}",
    )
    st.markdown("  \n".join(f"**{curve.name}**: {_said_of_score(curve)}" for curve in curves))


def _said_of_score(curve: Curve) -> str:
    if len(curve.y) == 1:
        return f"the query is at position {curve.x[0]}, with no room to move."
    spread = float(np.ptp(curve.y))
    low, high = (decimal(float(end)) for end in (curve.y.min(), curve.y.max()))
    matter = "matter" if spread >= ROUNDING else "do not matter; the rest is rounding" if spread else "do not matter"
    return f"from {low} to {high}, a change of **{rounded(spread)}**: the positions {matter}."


MATCHED = ("most alike", "same number")
"""The head of B shown next to the chosen one of A. Training gives head indices no meaning."""


def attention(both: HeadComparison) -> None:
    ctx, ctx_b = both.lessons
    how = inputs.segmented_control(
        "Head of B", MATCHED, default=MATCHED[0], key="match", line=lesson.control_row("match")
    )
    sentence = ""
    if how == MATCHED[0] and ctx.trace.tokens == ctx_b.trace.tokens and len(ctx.trace.tokens) > 1:
        ctx_b, sentence = _most_alike(ctx, ctx_b)
    titles = [
        f"{title} {one.choice.layer_index}.{one.choice.head}"
        for title, one in zip(both.titles, (ctx, ctx_b), strict=True)
    ]
    matched = head_comparison.compare(ctx, ctx_b, (titles[0], titles[1]))
    result(f"{sentence}{head_comparison.expected(matched)} {head_comparison.summary_text(matched)}{_cut(ctx)}")
    head_comparison.show_heads(matched)
    comparison.draw("heads", replace(matched, titles=both.titles), _heads)


def _most_alike(ctx: PageContext, ctx_b: PageContext) -> tuple[PageContext, str]:
    """B at the head whose attention overlaps most with the chosen one of A (`analysis.heads.overlap`), and in words."""
    a, b, at = ctx.trace, ctx_b.trace, (ctx.choice.layer_index, ctx.choice.head)
    patterns = [b[f"{layer}.pattern"] for layer in b.layers]
    own = a[f"{ctx.choice.layer}.pattern"][[ctx.choice.head]]
    shares = overlap(np.concatenate((own, *patterns)), a[f"{ctx.choice.layer}.mask"])
    by_head = shares[0, 1:].reshape(len(patterns), -1)
    layer, head = divmod(int(by_head.argmax()), by_head.shape[1])
    sentence = f"Head {at[0]}.{at[1]} of A has **{per_cent(float(by_head.max()))}** of its attention in common with "
    if (layer, head) == at:
        return ctx_b, f"{sentence}the head of the same number, its best match.  \n"
    sentence += f"head {layer}.{head} of B, and {per_cent(float(by_head[at]))} with the head of the same number.  \n"
    return replace(ctx_b, choice=replace(ctx_b.choice, layer=b.layers[layer], head=head)), sentence


def _heads(ctx: PageContext) -> None:
    run, layer = ctx.trace, ctx.choice.layer
    patterns = list(run[f"{layer}.pattern"])
    titles = [f"{scheme_of(ctx.model)}, head {head}" for head in range(len(patterns))]
    show("twin_heads", figures.shares(patterns, run[f"{layer}.mask"], titles=titles, tokens=run.tokens))


def _cut(twin: PageContext) -> str:
    usual = models.load(models.usual(models.names()))
    mine, others = len(twin.trace.tokens), len(usual.encode(twin.text))
    if mine <= others:
        return ""
    return (
        f" These models know fewer words: they split your sentence into {mine} tokens, "
        f"{markdown.code(usual.name)} into {others}."
    )
