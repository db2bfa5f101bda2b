from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import position_terms
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.analysis.predictions import softmax
from tfmviz.plots import compare as figures
from tfmviz.plots.cells import Axis, Cells, Frame, masked, signed
from tfmviz.plots.compare import Curve, Role, panels
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import before_after, comparison, icons, inputs, lesson, models, side
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.scheme_comparison import (
    CUT_DIFFERENTLY,
    FACTOR,
    ROLES,
    ROUNDING,
    TRAINED,
    available,
    effects,
    moving,
    name_of,
    pair,
    same_tokens,
    scheme_of,
    schemes,
    scores_from,
)
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent, rounded

FIRST = "decoder.0.self_attn"

MOST_BARS = 40
"""Up to so many tokens, each has its own bars."""

JOINS = ("x, as in the model", "q and k, as on some slides")

PRODUCTS = dict(zip(JOINS, ("(xᵢ + pᵢ)ᵀ W (xⱼ + pⱼ)", "(qᵢ + pᵢ)ᵀ (kⱼ + pⱼ)"), strict=True))

TERMS = {
    JOINS[0]: {
        "word · word": "xᵢᵀ W xⱼ",
        "word · position": "xᵢᵀ W pⱼ",
        "position · word": "pᵢᵀ W xⱼ",
        "position · position": "pᵢᵀ W pⱼ",
    },
    JOINS[1]: {
        "query · key": "qᵢᵀ kⱼ",
        "query · position": "qᵢᵀ pⱼ",
        "position · key": "pᵢᵀ kⱼ",
        "position · position": "pᵢᵀ pⱼ",
    },
}


def reaches(model: Model, length: int) -> bool:
    try:
        model.position_effects("decoder", length)
    except ValueError:
        return False
    return True


def shift(both: HeadComparison) -> None:
    """The same words at later positions: which scores change?"""
    ctx, _ = both.lessons
    maps, line = st.container(), lesson.control_row("shift")
    by = inputs.slider("Shift all positions by", 0, (FACTOR - 1) * TRAINED, 16, key="shift", line=line)
    if same_tokens(both):
        query, key = pair(both)
        with maps:
            sentence = _everywhere(both, (query, key), by)
        st.markdown(sentence)
        moving(both, query, key)
    table: dict[str, list[str]] = {"layer": [str(n) for n in range(ctx.model.config.n_layers)]}
    comparison.draw("shifted", both, lambda one: table.update(_shifted(one, by)))
    st.markdown(
        f"Layer {ctx.choice.layer_index}, head {ctx.choice.head}; the table has the largest difference by layer."
    )
    st.table(table)


def _everywhere(both: HeadComparison, at: tuple[int, int], by: int) -> str:
    """Returns how the scores vary at constant distance."""
    ctx, _ = both.lessons
    head = ctx.choice.head
    found = {scheme_of(one.model): everywhere(one.model, one.text, at, head) for one in both.lessons}
    values = np.stack(list(found.values()))
    # Two cells on every side: a single one could hardly be seen.
    (top, left), (bottom, right) = ([place + by + further for place in at] for further in (-2, 3))
    show(
        "pair_maps",
        Cells(
            values,
            Axis("position of the query, i"),
            Axis("position of the key, j"),
            signed(values, "score"),
            titles=tuple(found),
            frames=(Frame(top=top, left=left, bottom=bottom, right=right),) if bottom <= TRAINED else (),
            square=True,
        ),
    )
    query, key = (markdown.plain(quoted(ctx.trace.tokens)[n]) for n in at)
    varies = " and ".join(
        f"by up to **{rounded(position_terms.varies_at_one_distance(scores))}** with {scheme}"
        for scheme, scores in found.items()
    )
    return (
        f"Layer 0, head {head}: the score of query {query} with key {key} at all positions. Along a "
        f"diagonal, where the distance is constant, it varies {varies}."
    )


@cached_for_all
def everywhere(model: Model, text: str, at: tuple[int, int], head: int) -> Array:
    """Scores in the first layer, (len, len), with a text's words at two positions, query and key, moved everywhere."""
    query, key = models.trace(model, text)["embed"][list(at)]
    return position_terms.everywhere(
        query,
        key,
        effects(model),
        norm=model.weights.stacks["decoder"].norms[FIRST],
        weights=model.weights.attention(FIRST),
        head=head,
        length=TRAINED,
    )


def _shifted(ctx: PageContext, by: int) -> dict[str, list[str]]:
    scheme, length = scheme_of(ctx.model), len(ctx.trace.tokens)
    columns = [f"{scheme} ({ROLES[side.is_b()]}): {what}" for what in ("score", "share")]
    if not reaches(ctx.model, by + length):
        st.warning(
            f"**{scheme}**: the table ends at position {TRAINED - 1}; shift by at most {TRAINED - length}.",
            icon=icons.BLOCKED,
        )
        return {name: ["–"] * ctx.model.config.n_layers for name in columns}
    before, after = (scores_from(ctx.model, ctx.text, first) for first in (0, by))
    changes = position_terms.change(before, after)
    patterns = [softmax(scores[ctx.choice.layer_index, ctx.choice.head]) for scores in (before, after)]
    titles = [f"{scheme}, from {first}" for first in (0, by)]
    mask = np.tri(length, dtype=bool)
    show("shifted", figures.shares(patterns, mask, titles=titles, tokens=ctx.trace.tokens))
    st.markdown(f"**{scheme}**: {_verdict(*(float(values.max()) for values in changes))}")
    return {name: [rounded(value) for value in values] for name, values in zip(columns, changes, strict=True)}


def _verdict(score: float, share: float) -> str:
    if score == 0:
        return "no score changes."
    if score < ROUNDING:
        return f"scores change by up to **{rounded(score)}**, which is rounding."
    return f"scores change by up to **{rounded(score)}**, shares of attention by up to {per_cent(share)}."


@cached_for_all
def terms_of(model: Model, text: str, head: int, joins: str = JOINS[0]) -> Array:
    """The four terms of the first layer's scores, or if sinusoids were added to q and k: (4, len, len)."""
    from tfmviz.positions.sinusoidal import sinusoids

    run, weights = models.trace(model, text), model.weights
    if joins == JOINS[0]:
        terms, added = position_terms.four_terms, run["decoder.pos_embed"]
    else:
        terms = position_terms.four_terms_of_slides
        added = sinusoids(len(run.tokens), model.config.d_head).numpy().astype(float)
    norm = weights.stacks["decoder"].norms[FIRST]
    return terms(run["embed"], added, norm=norm, weights=weights.attention(FIRST), head=head)


def terms(both: HeadComparison) -> None:
    """Scores as sums of four terms, for schemes that add a vector to the embedding."""
    figure, line = st.container(), lesson.control_row("terms")
    joins = inputs.segmented_control("p joins", JOINS, key="p_joins", required=True, line=line)
    st.code(f"{PRODUCTS[joins]} = {' + '.join(TERMS[joins].values())}", language=None, wrap_lines=True)
    st.markdown("Only the last term compares two positions.")
    by_scheme = dict(zip(schemes(both), both.lessons, strict=True))
    adding = [one for one in by_scheme.values() if effects(one.model).added is not None]
    with figure:
        for one in adding:
            _four_terms(one, joins)
        if not adding:
            st.info(
                "Neither scheme adds anything to the embeddings, so there are no four terms. Choose "
                f"{' or '.join(scheme for scheme in available() if SCHEMES[scheme].acts == 'embed')}.",
                icon=icons.INFO,
            )
    for scheme in by_scheme:
        if SCHEMES[scheme].acts == "rotate":
            formula, *_ = SCHEMES[scheme].formula.splitlines()
            st.markdown(f"{SCHEMES[scheme].name} has one term: {markdown.code(formula)}")


def _four_terms(ctx: PageContext, joins: str) -> None:
    run, head, scheme, names = ctx.trace, ctx.choice.head, scheme_of(ctx.model), TERMS[joins]
    found = terms_of(ctx.model, ctx.text, head, joins)
    mask, scores = run[f"{FIRST}.mask"], run[f"{FIRST}.scores"][head]
    shares = [position_terms.explained_by_distance(part) for part in found]
    explained = ["–" if np.isnan(share) else per_cent(share) for share in shares]
    titles = [f"{name}: {share}" for name, share in zip(names, explained, strict=True)]
    values = masked(list(found), mask)
    show(f"terms_{scheme}", panels(values, signed(values, "part of the score"), titles, run.tokens, across=4))
    if joins == JOINS[0]:
        error = float(np.abs(found.sum(axis=0) - scores)[mask].max())
        st.markdown(f"**{scheme}, layer 0, head {head}.** They sum to the scores, to within **{rounded(error)}**.")
    st.table(
        {
            "part": [f"{name}: {product}" for name, product in names.items()],
            "mean size": [f"{np.abs(part[mask]).mean():.2f}" for part in found],
            "explained by the distance alone": explained,
        }
    )
    if (pairs_seen := int(mask.sum())) > 1:
        st.markdown(
            f"Per cent: share of variance due to i − j; chance gives {per_cent((len(mask) - 1) / (pairs_seen - 1))}."
        )


@cached_for_all
def losses_on(model: Model, text: str) -> tuple[tuple[str, ...], Array]:
    """A text's tokens and the loss at all but the first, up to `FACTOR` times the trained length."""
    longest = FACTOR * TRAINED if reaches(model, FACTOR * TRAINED) else TRAINED
    encoding = model.tokenizer.encode(text, max_len=longest)
    return encoding.tokens, next_token_losses(zoo.experiments.logits(model, encoding.ids), encoding.ids)


def longer(both: HeadComparison) -> None:
    _extrapolation(dict(zip(schemes(both), ROLES, strict=True)))
    st.header("Your own text")
    _own_text(both)


def _extrapolation(chosen: dict[str, Role]) -> None:
    found = {scheme: measured.losses for scheme in SCHEMES if (measured := by_position(name_of(scheme)))}
    if missing := [scheme for scheme in available() if scheme not in found]:
        st.info(f"Not measured yet: {', '.join(missing)}.", icon=icons.INFO)
    if not found:
        return
    curves = [_curve(scheme, losses, chosen.get(scheme, "other")) for scheme, losses in found.items()]
    rises = {scheme: with_sign(position_terms.rise(losses, trained=TRAINED)) for scheme, losses in found.items()}
    show("extrapolation", figures.losses(curves, trained=TRAINED, theme=theme()))
    result(
        f"From {TRAINED} to {FACTOR * TRAINED} positions the loss changes by: "
        + ", ".join(f"{scheme} **{rise}**" for scheme, rise in rises.items())
        + f". Each point averages {position_terms.WINDOW} positions of held-out text."
    )


def with_sign(rise: float | None) -> str:
    """A change; in words if there is none."""
    return "ends there" if rise is None else decimal(rise, "+.2f")


def _curve(scheme: str, losses: Array, role: Role) -> Curve:
    x, y = position_terms.smoothed(losses)
    return Curve(name=scheme, x=x, y=y, role=role)


def _own_text(both: HeadComparison) -> None:
    found = [losses_on(ctx.model, ctx.text) for ctx in both.lessons]
    counts = [len(losses) for _, losses in found]
    least, most = min(counts), max(counts)
    if not most:
        st.markdown(before_after.ONE_TOKEN)
        return
    (tokens, one), (others, other) = found
    if tokens[: least + 1] != others[: least + 1]:
        st.info(CUT_DIFFERENTLY, icon=icons.INFO)
        return
    losses = dict(zip(schemes(both), (one, other), strict=True))
    means = ", ".join(f"{scheme} **{values[:least].mean():.2f}**" for scheme, values in losses.items())
    short = min(losses, key=lambda scheme: len(losses[scheme]))
    span = "" if least == most else f" over the first {least} tokens, all that {short} can predict"
    st.markdown(
        f"Mean surprise at the next token, in nats{span}: {means}. "
        + (
            f"Each point averages {position_terms.WINDOW} tokens."
            if most > MOST_BARS
            else f"Paste more than {TRAINED} tokens to see what happens beyond."
        )
        + before_after.of_twins(both.lessons[0].text)
    )
    if most > MOST_BARS:
        curves = [_curve(scheme, values, role) for (scheme, values), role in zip(losses.items(), ROLES, strict=False)]
        show("own_losses", figures.losses(curves, trained=TRAINED, theme=theme()))
    else:
        before_after.show_losses(tokens, one, other, series=schemes(both), key="own_losses")
