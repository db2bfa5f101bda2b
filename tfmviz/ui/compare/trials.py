"""Two position schemes put to the test on trained models: shifted, taken apart, and on longer texts than they know."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz import zoo
from tfmviz.analysis import position_terms
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.analysis.predictions import softmax
from tfmviz.plots import compare as figures
from tfmviz.plots.cells import Axis, Cells, Frame, masked, signed
from tfmviz.plots.compare import Curve, Role, panels
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.trace import Array
from tfmviz.ui import before_after, icons, inputs, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.duel import (
    CUT_DIFFERENTLY,
    FACTOR,
    ROUNDING,
    TRAINED,
    Duel,
    Twin,
    available,
    moving,
    name_of,
    pair,
    same_tokens,
    scores_from,
)
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.held_out import by_position
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent, rounded

FIRST = "decoder.0.self_attn"

MOST_BARS = 40
"""Up to so many tokens, each has its own bars."""

JOINS = ("x, as in the model", "q and k, as on some slides")
"""To what a position's vector is added."""

PRODUCTS = dict(zip(JOINS, ("(x_i + p_i)ᵀ W (x_j + p_j)", "(q_i + p_i)ᵀ (k_j + p_j)"), strict=True))

TERMS = {
    JOINS[0]: {
        "word · word": "x_iᵀ W x_j",
        "word · position": "x_iᵀ W p_j",
        "position · word": "p_iᵀ W x_j",
        "position · position": "p_iᵀ W p_j",
    },
    JOINS[1]: {
        "query · key": "q_iᵀ k_j",
        "query · position": "q_iᵀ p_j",
        "position · key": "p_iᵀ k_j",
        "position · position": "p_iᵀ p_j",
    },
}


def reaches(twin: Twin, length: int) -> bool:
    """Whether a twin has positions for so many tokens."""
    try:
        twin.model.position_effects("decoder", length)
    except ValueError:
        return False
    return True


def shift(duel: Duel) -> None:
    """The same words at later positions: which scores notice?"""
    maps, line = st.container(), lesson.line("shift")
    by = inputs.slider("Shift all positions by", 0, (FACTOR - 1) * TRAINED, 16, key="shift", line=line)
    if lessons := same_tokens(duel):
        query, key = pair(lessons[0])
        _everywhere(maps, duel, (query, key), by)
        moving(duel, query, key)
    columns = st.columns(2)
    table: dict[str, list[str]] = {"layer": [str(n) for n in range(duel.left.model.config.n_layers)]}
    for column, (role, twin) in zip(columns, duel.sides, strict=True):
        with column:
            table |= _shifted(role, twin, duel, by)
    st.markdown(f"Layer {duel.layer}, head {duel.head}; the table has the largest difference by layer.")
    st.table(table)


def _everywhere(place: DeltaGenerator, duel: Duel, at: tuple[int, int], by: int) -> None:
    """Both twins' scores of one pair of words at all positions, and how they vary where the distance is the same."""
    found = {twin.scheme: everywhere(twin, duel.text, at, duel.head) for _, twin in duel.sides}
    with place:
        show("pair_maps", _pair_maps(found, (at[0] + by, at[1] + by)))
    words = [markdown.plain(quoted(duel.left.trace(duel.text).tokens)[n]) for n in at]
    varies = " and ".join(
        f"by up to **{rounded(position_terms.varies_at_one_distance(values))}** with {scheme}"
        for scheme, values in found.items()
    )
    st.markdown(
        f"Layer 0, head {duel.head}: the score of query {words[0]} with key {words[1]} at all positions. Along a "
        f"diagonal, where the distance is constant, it varies {varies}."
    )


def _pair_maps(maps: dict[str, Array], at: tuple[int, int]) -> Cells:
    """The scores at every pair of positions by scheme, (len, len) each, and a frame around the places of the two.

    Args:
        at: positions of the query and the key; beyond the maps there is no frame.
    """
    values = np.stack(list(maps.values()))
    length = values.shape[-1]
    reach = length // 32  # a single cell could hardly be seen
    (top, left), (bottom, right) = ([place + by for place in at] for by in (-reach, reach + 1))
    frames = (Frame(top=top, left=left, bottom=bottom, right=right),) if max(bottom, right) <= length else ()
    rows, columns = Axis("position of the query, i"), Axis("position of the key, j")
    look: dict[str, Any] = {"titles": tuple(maps), "frames": frames, "square": True, "across": 2}
    return Cells(values, rows, columns, signed(values, "score"), **look)


@shared
def everywhere(twin: Twin, text: str, at: tuple[int, int], head: int) -> Array:
    """Scores of a twin's first layer with the words of two positions of a text, query and key, put everywhere."""
    query, key = twin.trace(text)["embed"][list(at)]
    weights = twin.model.weights
    return position_terms.everywhere(
        query,
        key,
        twin.effects,
        norm=weights.stacks["decoder"].norms[FIRST],
        weights=weights.attention(FIRST),
        head=head,
        length=TRAINED,
    )


def _shifted(role: Role, twin: Twin, duel: Duel, by: int) -> dict[str, list[str]]:
    """One side of the test: its figure and its columns of the table."""
    run, scheme = twin.trace(duel.text), twin.scheme
    length = len(run.tokens)
    columns = (f"{scheme} ({role}): score", f"{scheme} ({role}): share")
    if not reaches(twin, by + length):
        st.warning(
            f"**{scheme}**: the table ends at position {TRAINED - 1}; shift by at most {TRAINED - length}.",
            icon=icons.BLOCKED,
        )
        return {name: ["–"] * twin.model.config.n_layers for name in columns}
    before, after = (scores_from(twin, duel.text, first) for first in (0, by))
    scores, weights = position_terms.change(before, after)
    patterns = [softmax(scores[duel.layer, duel.head]) for scores in (before, after)]
    show(
        f"shift_{role}",
        figures.shares(
            patterns,
            np.tri(length, dtype=bool),
            titles=(f"{scheme}, from 0", f"{scheme}, from {by}"),
            tokens=run.tokens,
        ),
    )
    st.markdown(f"**{scheme}**: {_verdict(float(scores.max()), float(weights.max()))}")
    return dict(zip(columns, ([rounded(value) for value in values] for values in (scores, weights)), strict=True))


def _verdict(score: float, share: float) -> str:
    if score == 0:
        return "no score changes."
    if score < ROUNDING:
        return f"scores change by up to **{rounded(score)}**, which is rounding."
    return f"scores change by up to **{rounded(score)}**, shares of attention by up to {per_cent(share)}."


@shared
def terms_of(twin: Twin, text: str, head: int, joins: str = JOINS[0]) -> Array:
    """The four terms of the scores in a twin's first layer, or if sinusoids joined its q and k: (4, len, len)."""
    from tfmviz.positions.sinusoidal import sinusoids

    run, weights = twin.trace(text), twin.model.weights
    if joins != JOINS[0]:
        return position_terms.four_terms_of_slides(
            run["embed"],
            sinusoids(len(run.tokens), twin.model.config.d_head).numpy().astype(float),
            norm=weights.stacks["decoder"].norms[FIRST],
            weights=weights.attention(FIRST),
            head=head,
        )
    return position_terms.four_terms(
        run["embed"],
        run["decoder.pos_embed"],
        norm=weights.stacks["decoder"].norms[FIRST],
        weights=weights.attention(FIRST),
        head=head,
    )


def terms(duel: Duel) -> None:
    """The scores of the first layer as four sums, for the schemes that add a vector to the word's."""
    figure, line = st.container(), lesson.line("terms")
    joins = inputs.segmented_control("p joins", JOINS, key="p_joins", required=True, line=line)
    st.code(f"{PRODUCTS[joins]} = {' + '.join(TERMS[joins].values())}", language=None, wrap_lines=True)
    st.markdown("Only the last term compares two positions.")
    adding = dict.fromkeys(twin for _, twin in duel.sides if twin.effects.added is not None)
    if not adding:
        figure.info(
            "Neither scheme adds anything to the embeddings, so there are no four terms. Choose "
            f"{' or '.join(scheme for scheme in available() if SCHEMES[scheme].acts == 'embed')}.",
            icon=icons.INFO,
        )
    for twin in adding:
        with figure:
            _four_terms(twin, duel, joins)
    for scheme in dict.fromkeys(duel.schemes):
        if SCHEMES[scheme].acts == "rotate":
            formula, *_ = SCHEMES[scheme].formula.splitlines()
            st.markdown(f"{SCHEMES[scheme].name} has one term: {markdown.code(formula)}")


def _four_terms(twin: Twin, duel: Duel, joins: str) -> None:
    run, found, names = twin.trace(duel.text), terms_of(twin, duel.text, duel.head, joins), TERMS[joins]
    mask, scores = run[f"{FIRST}.mask"], run[f"{FIRST}.scores"][duel.head]
    error = float(np.abs(found.sum(axis=0) - scores)[mask].max())
    sizes = [float(np.abs(part[mask]).mean()) for part in found]
    explained = [_explained(part) for part in found]
    titles = [f"{name}: {share}" for name, share in zip(names, explained, strict=True)]
    values = masked(list(found), mask)
    scale = signed(values, "part of the score")
    show(f"terms_{twin.scheme}", panels(values, scale, titles, run.tokens, across=4))
    if joins == JOINS[0]:
        st.markdown(
            f"**{twin.scheme}, layer 0, head {duel.head}.** They sum to the scores, to within **{rounded(error)}**."
        )
    st.table(
        {
            "part": [f"{name}: {product}" for name, product in names.items()],
            "mean size": [f"{size:.2f}" for size in sizes],
            "explained by the distance alone": explained,
        }
    )
    pairs_seen = int(mask.sum())
    if pairs_seen > 1:
        st.markdown(
            f"Per cent: share of variance due to i − j; chance gives {per_cent((len(mask) - 1) / (pairs_seen - 1))}."
        )


def _explained(part: Array) -> str:
    share = position_terms.explained_by_distance(part)
    return "–" if np.isnan(share) else per_cent(share)


@shared
def losses_on(twin: Twin, text: str) -> tuple[tuple[str, ...], Array]:
    """A text's tokens and a twin's surprise at all but the first, up to `FACTOR` times the trained length."""
    longest = FACTOR * TRAINED if reaches(twin, FACTOR * TRAINED) else TRAINED
    encoding = twin.model.tokenizer.encode(text, max_len=longest)
    return encoding.tokens, next_token_losses(zoo.experiments.logits(twin.model, encoding.ids), encoding.ids)


def longer(duel: Duel) -> None:
    """Texts longer than those trained on: measured on held-out text, then on the reader's own."""
    _extrapolation(duel)
    st.header("Your own text")
    _own_text(duel)


def _extrapolation(duel: Duel) -> None:
    chosen = {twin.scheme: role for role, twin in duel.sides}
    found = {scheme: measured.losses for scheme in SCHEMES if (measured := by_position(name_of(scheme)))}
    if missing := [scheme for scheme in available() if scheme not in found]:
        st.info(f"Not measured yet: {', '.join(missing)}.", icon=icons.INFO)
    if not found:
        return
    curves = [_curve(scheme, losses, chosen.get(scheme, "other")) for scheme, losses in found.items()]
    rises = {scheme: position_terms.rise(losses, trained=TRAINED) for scheme, losses in found.items()}
    told = {scheme: with_sign(rise) for scheme, rise in rises.items()}
    show("extrapolation", figures.losses(curves, trained=TRAINED, theme=theme()))
    result(
        f"From {TRAINED} to {FACTOR * TRAINED} positions the loss changes by: "
        + ", ".join(f"{scheme} **{rise}**" for scheme, rise in told.items())
        + f". Each point averages {position_terms.WINDOW} positions of held-out text."
    )


def with_sign(rise: float | None) -> str:
    """A change of the loss; in words if there is none."""
    return "ends there" if rise is None else decimal(rise, "+.2f")


def _curve(scheme: str, losses: Array, role: Role) -> Curve:
    x, y = position_terms.smoothed(losses)
    return Curve(name=scheme, x=x, y=y, role=role)


def _own_text(duel: Duel) -> None:
    results = {twin.scheme: losses_on(twin, duel.text) for _, twin in duel.sides}
    if not any(len(losses) for _, losses in results.values()):
        st.markdown(before_after.ONE_TOKEN)
        return
    one, other = (results[scheme] for scheme in duel.schemes)
    counts = [len(losses) for _, losses in results.values()]
    if one[0][: min(counts) + 1] != other[0][: min(counts) + 1]:
        st.info(CUT_DIFFERENTLY, icon=icons.INFO)
        return
    means = ", ".join(f"{scheme} **{losses[: min(counts)].mean():.2f}**" for scheme, (_, losses) in results.items())
    short = min(results, key=lambda scheme: len(results[scheme][1]))
    span = "" if len(set(counts)) == 1 else f" over the first {min(counts)} tokens, all that {short} can predict"
    st.markdown(
        f"Mean surprise at the next token, in nats{span}: {means}. "
        + (
            f"Each point averages {position_terms.WINDOW} tokens."
            if max(counts) > MOST_BARS
            else f"Paste more than {TRAINED} tokens to see what happens beyond."
        )
        + before_after.of_twins(duel.text)
    )
    if max(counts) > MOST_BARS:
        curves = [_curve(twin.scheme, results[twin.scheme][1], role) for role, twin in duel.sides]
        show("own_losses", figures.losses(curves, trained=TRAINED, theme=theme()))
        return
    before_after.show_losses(*one, other[1], series=duel.schemes, key="own_losses")
