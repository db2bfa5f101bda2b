from __future__ import annotations

import re
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import rotations
from tfmviz.constants import ADDRESS_TURN
from tfmviz.plots import space
from tfmviz.plots.space import Space, View
from tfmviz.record.trace import Array
from tfmviz.ui import controls, inputs, lesson, live, url
from tfmviz.ui.figures import result, seen_from, show, show_view, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.rope.subject import of_head, own_theta, tokens_of
from tfmviz.views import turning
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, tiny

TURN = re.compile(ADDRESS_TURN)


def turned(shown: PageContext) -> None:
    """Two arrows, and on demand the paths of two pairs through space."""
    arrows(shown)
    lengths(shown)
    layouts(shown)
    if inputs.toggle("In three dimensions, next to sinusoids", key="helix"):
        helices(shown)


def arrows(shown: PageContext) -> None:
    tokens = tokens_of(shown)
    url.keep_for(tokens, "turn")
    if not shown.note:
        live.follow(shown, "turning")
    show_view(
        "turning",
        data=turning.payload(
            shown.trace, shown.choice.layer, shown.choice.head, own_theta(shown), max_len=shown.model.config.max_len
        ),
        selection={
            "token": shown.query,  # also shown by the helices below
            "turn": url.text("turn", TURN),
        },
        on_report=_follow,
    )


def _follow(report: dict[str, Any]) -> None:
    turn = str(report["turn"])
    controls.remember(int(report["token"]), {"turn": turn} if TURN.fullmatch(turn) else {})


def lengths(shown: PageContext) -> None:
    norms = {site: np.linalg.norm(of_head(shown, site), axis=-1) for site in ("q", "k", "rot_q", "rot_k")}
    change = max(float(np.abs(norms[f"rot_{name}"] / norms[name] - 1).max()) for name in "qk")
    st.markdown(
        "RoPE is built so that ⟨f(x, i), f(y, j)⟩ = g(x, y, i − j): the score depends only on the distance. "
        "f(x, i) = R_i W x achieves it, since (R_i q) · (R_j k) = q · R_(j−i) k.\n\n"
        f"Rotation preserves norms (here to within **{tiny(change)}**). As q and k rotate separately, RoPE works with "
        "linear attention (Su et al. 2021)."
    )


def layouts(shown: PageContext) -> None:
    q, k = of_head(shown, "q"), of_head(shown, "k")
    order = rotations.halves_order(q.shape[-1])
    by = rotations.angles(np.arange(len(q)), own_theta(shown))
    ours = [rotations.turn_pairs(x, by) for x in (q, k)]
    theirs = [rotations.turn_halves(x[:, order], by) for x in (q, k)]
    mixed = [rotations.turn_halves(x, by) for x in (q, k)]
    scores = [a @ b.T for a, b in (ours, theirs, mixed)]
    reordered, wrong = (float(np.abs(scores[0] - other).max()) for other in scores[1:])
    st.markdown(
        "**Two layouts.** A pair is two neighbours in the paper and here; in GPT-NeoX and `transformers`, one "
        f"coordinate from each half. With the vectors reordered too, q · k changes by {tiny(reordered)}; without, "
        f"by up to **{wrong:.2f}**."
    )


FEWEST, MOST = 16, 64
"""Positions that are drawn, for short and for long sentences."""

SMOOTH = 8
"""Points of a curve for each position."""

SLOW = 40.0
"""The slow pair is the one that turns once in about so many positions."""


def helices(shown: PageContext) -> None:
    seen = seen_from(lesson.control_row("helices"))
    n = min(max(len(tokens_of(shown)), FEWEST), MOST)
    theta = own_theta(shown)
    theta = theta[theta > 0]  # the others do not turn
    slow = int(np.abs(np.log(theta * SLOW / (2 * np.pi))).argmin())
    pairs = sorted({0, slow})
    angles = rotations.angles(np.arange((n - 1) * SMOOTH + 1) / SMOOTH, theta[pairs])  # (point, pair)
    q = rotations.complex_pairs(of_head(shown, "q"))[shown.query, pairs]
    name, in_quotes = visible(tokens_of(shown)[shown.query]), quoted(tokens_of(shown))[shown.query]
    radii = " and ".join(f"{decimal(abs(value))} in pair {m}" for m, value in zip(pairs, q, strict=True))
    left, right = st.columns(2)
    with left:
        title = "Sinusoids of the same frequencies: the same points for every word"
        alt = f"Pairs of sine and cosine over {n} positions: helices of radius 1."
        show("helix_added", _figure(np.exp(1j * angles), pairs, "any word", seen), title=title, alt=alt)
    with right:
        title = f"RoPE: the query of {in_quotes} itself rotates, at its own radius"
        alt = f"Pairs of a query over {n} positions: helices of radius {radii}."
        show("helix_turned", _figure(q * np.exp(1j * angles), pairs, name, seen), title=title, alt=alt)
    result(f"{markdown.plain(in_quotes)} keeps its norm at every position: {radii}.")


def _figure(values: Array, pairs: list[int], name: str, seen: View) -> Space:
    """One helix for each pair.

    Args:
        values: (point, pair), the two coordinates of each pair as a complex number.
        name: of the word at these positions.
    """
    look = theme()
    positions = np.arange(len(values)) / SMOOTH
    dots = positions % 1 == 0
    ways = [
        space.Way(
            name=f"pair {m}",
            points=np.column_stack([positions, of_pair.real, of_pair.imag]),
            tooltips=[f"{name} at position {i:g}, pair {m}" for i in positions],
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
