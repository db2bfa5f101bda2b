"""The decision card: which scheme can do what, each answer from an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import linear_attention, position_terms
from tfmviz.plots.cells import masked, signed
from tfmviz.plots.compare import panels
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import icons, models
from tfmviz.ui.cache import shared
from tfmviz.ui.compare.trials import FIRST, with_sign
from tfmviz.ui.duel import (
    FACTOR,
    ROUNDING,
    TRAINED,
    available,
    effects,
    n_parameters,
    name_of,
    on_paper,
    scheme_of,
    schemes,
    scores_from,
)
from tfmviz.ui.figures import show
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import Lesson, positions_in
from tfmviz.ui.sides import Sides
from tfmviz.words.numbers import decimal, rounded

PROBE = 32
"""How many tokens of the reader's text the card shifts, so that learned positions have room for them."""

SHIFT = 16

PROPERTIES = ("parameters", "relative", "extrapolates", "linear attention", "KV cache")


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """The measurements of one scheme.

    Attributes:
        n_parameters: numbers trained for it.
        shifted: largest change of a score when all positions move on by `SHIFT`.
        rise: of the loss at `FACTOR` times the trained length, nats per token; None if there is no such position or
            no file.
        linear: largest difference between linear attention over all pairs and as a running sum.
        cache: largest difference of a logit between reading at once and in two parts.
    """

    n_parameters: int
    shifted: float
    rise: float | None
    linear: float
    cache: float


@shared
def findings(model: Model, text: str) -> Findings:
    """Measures one scheme on a text of at least two tokens."""
    shifted, _ = position_terms.change(*(scores_from(model, text, first, most=PROBE) for first in (0, SHIFT)))
    measured = by_position(model.name)
    return Findings(
        n_parameters=n_parameters(model),
        shifted=float(shifted.max()),
        rise=None if measured is None else position_terms.rise(measured.losses, trained=TRAINED, factor=FACTOR),
        linear=_largest_difference(*linear_two_ways(model, text)),
        cache=_largest_difference(*read_two_ways(model, text)),
    )


def linear_two_ways(model: Model, text: str) -> tuple[Array, Array]:
    """Linear attention with the first layer's queries, keys and values, over all pairs and as a running sum.

    Returns:
        (head, len, d_head) each.
    """
    run = models.trace(model, text)
    q, k, v = (run[f"{FIRST}.{name}"] for name in "qkv")
    positions = positions_in(model, run, FIRST)
    pairs = linear_attention.over_pairs(q, k, v, angles=positions.angles, bias=positions.bias)
    return pairs, linear_attention.running(q, k, v, angles=positions.angles)


def read_two_ways(model: Model, text: str) -> tuple[Array, Array]:
    """Logits of a text's second half, read at once and read after its first half is in a key/value cache."""
    run = models.trace(model, text)
    half = len(run.tokens) // 2
    return run["logits"][half:], zoo.experiments.logits(model, run.target.ids, cached=half)


def _largest_difference(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max())


def _turned(here: Lesson) -> None:
    """The shares of linear attention in one head of the first layer, before φ(q) and φ(k) are turned and after it."""
    run, head, scheme = here.trace, here.choice.head, scheme_of(here.model)
    q, k = (run[f"{FIRST}.{name}"][[head]] for name in "qk")
    angles = here.model.position_effects("decoder", len(run.tokens)).angles
    plain, turned = (linear_attention.shares(q, k, angles=turns)[0] for turns in (None, angles))
    low, high = (decimal(float(end)) for end in (turned.sum(axis=-1).min(), turned.sum(axis=-1).max()))
    least = float(turned[np.tri(len(turned), dtype=bool)].min())
    negative = "here some are" if round(least, 3) < 0 else "here none is"
    st.markdown(
        f"Layer 0, head {head} of {scheme}. Only the numerator is rotated (Su et al. 2021): rows sum "
        f"to **{low}** to {high}, and shares can be negative; {negative} (the least is "
        f"{decimal(least, '.3f')})."
    )
    values = masked([plain, turned], np.tri(len(turned), dtype=bool))
    titles = ("φ(q) · φ(k)", f"turned by {SCHEMES[scheme].name}")
    show("turned_shares", panels(values, signed(values, "share of a value", root=True), titles, run.tokens))


def card(both: Sides) -> None:
    """All schemes, all properties, with the experiments behind them; then the two chosen schemes on paper."""
    if len(both.lessons[0].trace.tokens) > 1:
        _measured(both)
    else:
        st.info("Type at least two tokens.", icon=icons.INFO)
    on_paper(both)


def _measured(both: Sides) -> None:
    text = both.lessons[0].text
    rows = {scheme: findings(models.load(name_of(scheme)), text) for scheme in available()}
    columns = zip(*(_cells(scheme, found, both) for scheme, found in rows.items()), strict=True)
    st.table({"scheme": list(rows)} | dict(zip(PROPERTIES, map(list, columns), strict=True)))
    st.markdown(
        f"✓ **Relative**: {SHIFT} positions later, scores change only by rounding. **Extrapolates**: at "
        f"{FACTOR} times the trained length the loss rises by at most {position_terms.RISE} nats. **Linear "
        "attention**, **KV cache**: the same result whether Σ φ(k) vᵀ is summed over all pairs or along the text, and "
        "whether the text is read in one pass or in two."
    )
    turning = [here for here in both.lessons if effects(here.model).turned is not None]
    if turning:
        _turned(turning[0])


def _cells(scheme: str, found: Findings, both: Sides) -> list[str]:
    """A row of the card. What a figure shows leads to it: to this page with the scheme as A and that tab open."""
    extrapolates = found.rise is not None and found.rise <= position_terms.RISE
    far = "not measured" if by_position(name_of(scheme)) is None else with_sign(found.rise)
    a, b = schemes(both)
    address = {"text": both.lessons[0].text, "left": scheme, "right": b if b != scheme else a}
    linked = [
        f"[{'✓' if holds else '✗'} {said}](?{urlencode(address | {'experiment': tab})})"
        for holds, said, tab in (
            (found.shifted < ROUNDING, rounded(found.shifted), "Shift all positions"),
            (extrapolates, far, "Longer texts"),
        )
    ]
    exact = [f"{'✓' if value < ROUNDING else '✗'} {rounded(value)}" for value in (found.linear, found.cache)]
    return [f"{found.n_parameters:,}", *linked, *exact]
