"""The neurons of one token in A and in B: how many fire, and which differ most."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.record.trace import Array
from tfmviz.ui import controls
from tfmviz.ui import sides as both
from tfmviz.ui.beside import What
from tfmviz.ui.feed_forward.subject import Subject
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import of_columns
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal

OPTIONS: tuple[What, ...] = ("another sentence", "a head off")

SHOWN = 10
"""Neurons in the table."""


def side_by_side(subject: Subject, there: Lesson) -> None:
    """Counts of the neurons that fire, and the ones whose activations differ most."""
    sides = both.of(subject.here, there)
    controls.token_box([visible(token) for token in subject.tokens], sides.query)
    at = sides.queries.partner(sides.query)
    if at is None:
        st.markdown(both.lacks(sides))
        return
    places = tuple(zip(sides.lessons, (sides.query, at), strict=True))
    a, b = (_fires(side, subject.site, position) for side, position in places)
    token = markdown.plain(both.query_name(sides))
    result(
        f"For {token} {a.sum():,} of {a.size:,} neurons fire in A, {b.sum():,} in B: {(a & b).sum():,} in both, "
        f"{(a & ~b).sum():,} only in A, {(b & ~a).sum():,} only in B."
    )
    before, after = (side.trace[f"{subject.site}.post"][position] for side, position in places)
    most = np.argsort(-np.abs(after - before), kind="stable")[:SHOWN]
    columns = {"neuron": [str(n) for n in most]}
    for title, values in zip((*sides.titles, "B − A"), (before, after, after - before), strict=True):
        columns[title] = [decimal(float(values[n]), ".3f") for n in most]
    show("side_neurons", of_columns(columns, caption="The neurons that differ most"))


def _fires(side: Lesson, site: str, position: int) -> Array:
    """(d_ff,), whether what the function gets is above 0: the gate where there is one."""
    gate = f"{site}.gate"
    return side.trace[gate if gate in side.trace else f"{site}.pre"][position] > 0
