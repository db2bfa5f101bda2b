from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import linear_attention, position_terms
from tfmviz.plots.cells import masked, signed
from tfmviz.plots.compare import panels
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.model import Model
from tfmviz.ui import icons, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.compare.trials import FIRST, with_sign
from tfmviz.ui.figures import show
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import PageContext, positions_in
from tfmviz.ui.scheme_comparison import (
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
from tfmviz.words.numbers import decimal, rounded

PROBE = 32
"""Tokens of the reader's text that the card shifts, so that learned positions have room for them."""

SHIFT = 16

PROPERTIES = ("parameters", "relative", "extrapolates", "linear attention", "KV cache")


Entry = tuple[bool, str, str]
"""A scheme's property: present or not, the measurement, and the tab that shows it."""


@cached_for_all
def findings(model: Model, text: str) -> list[Entry]:
    """Measurements of one scheme on a text of at least two tokens: all of `PROPERTIES` but the first."""
    run = models.trace(model, text)
    shifted, _ = position_terms.change(*(scores_from(model, text, first, most=PROBE) for first in (0, SHIFT)))
    measured = by_position(model.name)
    rise = None if measured is None else position_terms.rise(measured.losses, trained=TRAINED, factor=FACTOR)
    extrapolates = rise is not None and rise <= position_terms.RISE
    # Linear attention with the first layer's queries, keys and values, over all pairs and as a running sum.
    q, k, v = (run[f"{FIRST}.{name}"] for name in "qkv")
    positions = positions_in(model, run, FIRST)
    pairs = linear_attention.over_pairs(q, k, v, angles=positions.angles, bias=positions.bias)
    linear = np.abs(pairs - linear_attention.running(q, k, v, angles=positions.angles)).max()
    # Logits of the second half, computed in one pass, and with the first half in a key/value cache.
    half = len(run.tokens) // 2
    cached = np.abs(run["logits"][half:] - zoo.experiments.logits(model, run.target.ids, cached=half)).max()
    far = "not measured" if measured is None else with_sign(rise)
    return [
        (bool(shifted.max() < ROUNDING), rounded(float(shifted.max())), "Shift all positions"),
        (extrapolates, far, "Longer texts"),
        *((bool(value < ROUNDING), rounded(float(value)), "") for value in (linear, cached)),
    ]


def _turned(ctx: PageContext) -> None:
    run, head, scheme = ctx.trace, ctx.choice.head, scheme_of(ctx.model)
    q, k = (run[f"{FIRST}.{name}"][[head]] for name in "qk")
    angles = ctx.model.position_effects("decoder", len(run.tokens)).angles
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


def card(both: HeadComparison) -> None:
    if len(both.lessons[0].trace.tokens) > 1:
        _measured(both)
    else:
        st.info("Type at least two tokens.", icon=icons.INFO)
    on_paper(both)


def _measured(both: HeadComparison) -> None:
    text, (a, b) = both.lessons[0].text, schemes(both)
    rows = []
    for scheme in available():
        model = models.load(name_of(scheme))
        address = {"text": text, "left": scheme, "right": b if b != scheme else a}
        cells = [f"{n_parameters(model):,}"]
        for holds, sentence, tab in findings(model, text):
            cell = f"{'✓' if holds else '✗'} {sentence}"
            cells.append(f"[{cell}](?{urlencode(address | {'experiment': tab})})" if tab else cell)
        rows.append((scheme, *cells))
    st.table(dict(zip(("scheme", *PROPERTIES), map(list, zip(*rows, strict=True)), strict=True)))
    st.markdown(
        f"✓ **Relative**: {SHIFT} positions later, scores change only by rounding. **Extrapolates**: at "
        f"{FACTOR} times the trained length the loss rises by at most {position_terms.RISE} nats. **Linear "
        "attention**, **KV cache**: the same result whether Σ φ(k) vᵀ is summed over all pairs or along the text, and "
        "whether the text is read in one pass or in two."
    )
    if turning := [ctx for ctx in both.lessons if effects(ctx.model).turned is not None]:
        _turned(turning[0])
