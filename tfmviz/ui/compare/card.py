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
from tfmviz.record.trace import Array
from tfmviz.ui import icons
from tfmviz.ui.cache import shared
from tfmviz.ui.compare.trials import FIRST, with_sign
from tfmviz.ui.duel import FACTOR, ROUNDING, TRAINED, Duel, Twin, available, name_of, on_paper, scores_from, twin_of
from tfmviz.ui.figures import show
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import positions_in
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
def findings(twin: Twin, text: str) -> Findings:
    """Measures one scheme on a text of at least two tokens."""
    shifted, _ = position_terms.change(*(scores_from(twin, text, first, most=PROBE) for first in (0, SHIFT)))
    measured = by_position(name_of(twin.scheme))
    return Findings(
        n_parameters=twin.n_parameters[0],
        shifted=float(shifted.max()),
        rise=None if measured is None else position_terms.rise(measured.losses, trained=TRAINED, factor=FACTOR),
        linear=_largest_difference(*linear_two_ways(twin, text)),
        cache=_largest_difference(*read_two_ways(twin, text)),
    )


def linear_two_ways(twin: Twin, text: str) -> tuple[Array, Array]:
    """Linear attention with the first layer's queries, keys and values, over all pairs and as a running sum.

    Returns:
        (head, len, d_head) each.
    """
    run = twin.trace(text)
    q, k, v = (run[f"{FIRST}.{name}"] for name in "qkv")
    positions = positions_in(twin.model, run, FIRST)
    pairs = linear_attention.over_pairs(q, k, v, angles=positions.angles, bias=positions.bias)
    return pairs, linear_attention.running(q, k, v, angles=positions.angles)


def read_two_ways(twin: Twin, text: str) -> tuple[Array, Array]:
    """Logits of a text's second half, read at once and read after its first half is in a key/value cache."""
    run = twin.trace(text)
    half = len(run.tokens) // 2
    return run["logits"][half:], zoo.experiments.logits(twin.model, run.target.ids, cached=half)


def _largest_difference(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max())


def _turned(twin: Twin, duel: Duel) -> None:
    """The shares of linear attention in one head of the first layer, before φ(q) and φ(k) are turned and after it."""
    run = twin.trace(duel.text)
    q, k = (run[f"{FIRST}.{name}"][[duel.head]] for name in "qk")
    angles = twin.model.position_effects("decoder", len(run.tokens)).angles
    plain, turned = (linear_attention.shares(q, k, angles=turns)[0] for turns in (None, angles))
    low, high = (decimal(float(end)) for end in (turned.sum(axis=-1).min(), turned.sum(axis=-1).max()))
    least = float(turned[np.tri(len(turned), dtype=bool)].min())
    negative = "here some are" if round(least, 3) < 0 else "here none is"
    st.markdown(
        f"Layer 0, head {duel.head} of {twin.scheme}. Only the numerator is rotated (Su et al. 2021): rows sum "
        f"to **{low}** to {high}, and shares can be negative; {negative} (the least is "
        f"{decimal(least, '.3f')})."
    )
    values = masked([plain, turned], np.tri(len(turned), dtype=bool))
    titles = ("φ(q) · φ(k)", f"turned by {SCHEMES[twin.scheme].name}")
    show("turned_shares", panels(values, signed(values, "share of a value", root=True), titles, run.tokens))


def card(duel: Duel) -> None:
    """All schemes, all properties, with the experiments behind them; then the two chosen schemes on paper."""
    if len(duel.left.trace(duel.text).tokens) > 1:
        _measured(duel)
    else:
        st.info("Type at least two tokens.", icon=icons.INFO)
    on_paper(duel)


def _measured(duel: Duel) -> None:
    rows = {scheme: findings(twin_of(scheme), duel.text) for scheme in available()}
    columns = zip(*(_cells(scheme, found, duel) for scheme, found in rows.items()), strict=True)
    st.table({"scheme": list(rows)} | dict(zip(PROPERTIES, map(list, columns), strict=True)))
    st.markdown(
        f"✓ **Relative**: {SHIFT} positions later, scores change only by rounding. **Extrapolates**: at "
        f"{FACTOR} times the trained length the loss rises by at most {position_terms.RISE} nats. **Linear "
        "attention**, **KV cache**: the same result whether Σ φ(k) vᵀ is summed over all pairs or along the text, and "
        "whether the text is read in one pass or in two."
    )
    for _, twin in duel.sides:
        if twin.effects.turned is not None:
            _turned(twin, duel)
            break


def _cells(scheme: str, found: Findings, duel: Duel) -> list[str]:
    extrapolates = found.rise is not None and found.rise <= position_terms.RISE
    far = "not measured" if by_position(name_of(scheme)) is None else with_sign(found.rise)
    entries = (
        (f"{_mark(found.shifted < ROUNDING)} {rounded(found.shifted)}", "Shift all positions"),
        (f"{_mark(extrapolates)} {far}", "Longer texts"),
    )
    exact = [f"{_mark(value < ROUNDING)} {rounded(value)}" for value in (found.linear, found.cache)]
    linked = [f"[{words}]({_address(scheme, experiment, duel)})" for words, experiment in entries]
    return [f"{found.n_parameters:,}", *linked, *exact]


def _address(scheme: str, experiment: str, duel: Duel) -> str:
    """This page with the scheme on the left and an experiment open."""
    left, right = duel.schemes
    other = right if right != scheme else left
    return "?" + urlencode({"text": duel.text, "left": scheme, "right": other, "experiment": experiment})


def _mark(holds: bool) -> str:
    return "✓" if holds else "✗"
