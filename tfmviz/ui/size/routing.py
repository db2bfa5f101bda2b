"""A mixture of experts at work: to which expert each token of the reader's sentence goes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import streamlit as st

from tfmviz.plots import variants as figures
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, lesson
from tfmviz.ui.figures import show, show_table, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import Table
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted, decimal, per_cent


def routed(here: Lesson) -> None:
    """The routing of the chosen model, or of the shipped mixture where the chosen one has no experts."""
    there = lesson.stand_in(here, "a model with experts", fits=bool(_sites(here.model)), instead="experts")
    if there is None:
        return
    if there is not here:
        controls.say_what_was_cut(there.trace.target, f"{markdown.code(there.model.name)} reads")
    here, sites = there, _sites(there.model)
    stack = here.model.writes_from
    p = np.stack([here.trace[f"{site}.router"] for site in sites])  # (layer, len, expert)
    if not np.isfinite(p).all():
        st.warning("The router's numbers are not finite: there is nothing to show.")
        return
    tokens = here.trace.axes(f"{stack}.0.self_attn")[0].tokens
    show(figures.routing(tokens, p, theme=theme()), key="routing", alt=said(tokens, p))
    st.markdown(
        f"{markdown.code(here.model.name)} has {p.shape[-1]} experts in each layer. Colour: the expert that "
        "reads a token; height: its probability."
    )
    _shares(tokens, p)


def _sites(model: Model) -> list[str]:
    """Paths of the layers with experts, in the stack that the vocabulary is read from."""
    return list(model.weights.stacks[model.writes_from].experts)


def _shares(tokens: tuple[str, ...], p: Array) -> None:
    """How many of the tokens each expert reads, and whether equal tokens go to one."""
    shares = np.stack([np.bincount(row, minlength=p.shape[-1]) / len(tokens) for row in p.argmax(axis=-1)])
    show_table(
        Table(
            caption="Share of your tokens that each expert reads",
            columns=("layer", *(f"expert {e}" for e in range(p.shape[-1]))),
            rows=[(f"layer {row}", *(f"{share:.0%}" for share in of)) for row, of in enumerate(shares)],
        ),
        key="routing_shares",
    )
    st.markdown(
        f"{repeated(tokens, p)} Training aims at equal shares, {per_cent(1 / p.shape[-1])} each (Fedus et al. 2021)."
    )


def said(tokens: tuple[str, ...], p: Array) -> str:
    """Layer by layer which tokens each expert reads, for those who cannot see the figure."""
    rows = []
    for row, chosen in enumerate(p.argmax(axis=-1)):
        words: dict[int, list[str]] = defaultdict(list)
        for token, expert, sure in zip(tokens, chosen.tolist(), p[row].max(axis=-1), strict=True):
            words[expert].append(f"{visible(token)} {decimal(sure, '.2f')}")
        rows.append(f"layer {row}: " + "; ".join(f"expert {e} reads {', '.join(words[e])}" for e in sorted(words)))
    return ". ".join(rows)


def repeated(tokens: tuple[str, ...], p: Array) -> str:
    """How many of the tokens that occur more than once go to one expert wherever they stand."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, token in enumerate(tokens):
        places[token].append(i)
    several = [found for found in places.values() if len(found) > 1]
    if not several:
        return "No token occurs twice; repeat a word to see whether its place matters."
    chosen = p.argmax(axis=-1)
    same = [sum(len(set(row[found].tolist())) == 1 for found in several) for row in chosen]
    by_layer = ", ".join(f"{n} in layer {row}" for row, n in enumerate(same))
    occur = "occurs" if len(several) == 1 else "occur"
    return f"{counted(len(several), 'token')} {occur} more than once. Read by one expert at every place: {by_layer}."
