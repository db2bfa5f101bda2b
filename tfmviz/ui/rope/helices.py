"""A fast and a slow pair over position: sinusoids, which are added to a word, and RoPE, which turns the word itself."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import rotations
from tfmviz.plots import space
from tfmviz.plots.space import Space, View
from tfmviz.record.trace import Array
from tfmviz.ui import lesson
from tfmviz.ui.figures import seen_from, show_space, theme
from tfmviz.ui.rope.subject import Subject, own_theta
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal

FEWEST, MOST = 16, 64
"""Positions that are drawn, for short and for long sentences."""

SMOOTH = 8
"""Points of a curve for each position."""

TURN = 40.0
"""The slow pair is the one that turns once in about so many positions."""


def helices(shown: Subject) -> None:
    seen = seen_from(lesson.line("helices"))
    n = min(max(len(shown.tokens), FEWEST), MOST)
    theta = own_theta(shown)
    theta = theta[theta > 0]  # the others do not turn
    slow = int(np.abs(np.log(theta * TURN / (2 * np.pi))).argmin())
    pairs = sorted({0, slow})
    angles = rotations.angles(np.arange((n - 1) * SMOOTH + 1) / SMOOTH, theta[pairs])  # (point, pair)
    q = rotations.complex_pairs(shown.of_head("q"))[shown.query, pairs]
    name = visible(shown.tokens[shown.query])
    safe = markdown.plain(name)
    radii = " and ".join(f"{decimal(abs(value))} in pair {m}" for m, value in zip(pairs, q, strict=True))
    left, right = st.columns(2)
    with left:
        st.markdown("**Sinusoids** of the same speeds: every word gets the same points added.")
        figure = _figure(np.exp(1j * angles), pairs, "any word", seen)
        show_space(figure, key="helix_added", alt=f"Pairs of sine and cosine over {n} positions: helices of radius 1.")
    with right:
        st.markdown(f"**RoPE**: the query of “{safe}” itself goes round, on its own radius.")
        figure = _figure(q * np.exp(1j * angles), pairs, name, seen)
        show_space(figure, key="helix_turned", alt=f"Pairs of a query over {n} positions: helices of radius {radii}.")
    st.markdown(f"“{safe}” keeps its length at any position: {radii}. Only the direction tells where it is.")


def _figure(values: Array, pairs: list[int], name: str, seen: View) -> Space:
    """One helix for each pair.

    Args:
        values: (point, pair), the two coordinates of each pair as a complex number.
        name: of the word at these places.
    """
    look = theme()
    positions = np.arange(len(values)) / SMOOTH
    dots = positions % 1 == 0
    ways = [
        space.Way(
            name=f"pair {m}",
            points=np.column_stack([positions, of_pair.real, of_pair.imag]),
            said=[f"{name} at position {i:g}, pair {m}" for i in positions],
            colour=colour,
            dots=dots,
        )
        for m, of_pair, colour in zip(pairs, values.T, (look.accent, look.attention), strict=False)
    ]
    return space.ways(
        ways,
        axes=("position", "1st coordinate", "2nd coordinate"),
        title=f"Pairs of {name} over position",
        seen_from=seen,
        shape=(1.8, 0.8, 0.8),
        theme=look,
    )
