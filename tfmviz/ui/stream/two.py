"""The residual stream of A and of B: how long the chosen token's vector is, and what it would say, layer by layer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import lens, residual
from tfmviz.plots import side_by_side as figures
from tfmviz.ui import sides as both
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson, where_it_predicts
from tfmviz.ui.sides import Sides
from tfmviz.views.counts import of_columns
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, per_cent


def side_by_side(here: Lesson, there: Lesson) -> None:
    sides = both.of(here, there)
    left, right = st.columns(2)
    with left:
        _lengths(sides)
        both.show_likeness(sides)
    with right, where_it_predicts():
        _words(sides)


def _lengths(sides: Sides) -> None:
    at = sides.query, sides.queries.partner(sides.query)
    found = {}
    for title, side, position in zip(sides.titles, sides.lessons, at, strict=True):
        if position is not None:
            stack = both.stack_of(side)
            sites = list(residual.stages(side.trace, stack, "layers").values())
            found[title] = residual.lengths(side.trace, sites)[:, position]
    token = markdown.plain(both.query_name(sides))
    ends = (f"{decimal(float(v[0]), '.1f')} → {decimal(float(v[-1]), '.1f')} in {n[0]}" for n, v in found.items())
    result(f"The norm of the vector of {token}, first → last: {', '.join(ends)}.")
    show("side_lengths", figures.lengths(found, theme=theme()))


def _words(sides: Sides) -> None:
    at = both.targets(sides)
    said = []
    for side, position in zip(sides.lessons, at, strict=True):
        stack = side.model.writes_from
        stages = residual.stages(side.trace, stack, "layers")
        if position is None:
            continue
        read = lens.read_token(side.trace, list(stages.values()), side.model.weights.stacks[stack].readout, position)
        words = [visible(side.model.vocabulary[n]) for n in read.top[:, 0]]
        shares = [per_cent(float(p)) for p in read.top_probability[:, 0]]
        said.append((list(stages), words, shares))
    result(f"{both.expected(sides)} {_parts(said[0][0], *(words for _, words, _ in said))}")
    longest = max((stages for stages, _, _ in said), key=len)
    columns: dict[str, list[str]] = {"after": longest}
    for title, (_, words, shares) in zip(sides.titles, said, strict=False):
        rows = [f"{word} {share}" for word, share in zip(words, shares, strict=True)]
        columns[title] = rows + [""] * (len(longest) - len(rows))
    show("side_lens", of_columns(columns, caption="If the model stopped here"))


def _parts(stages: list[str], *words: list[str]) -> str:
    """From which stage on the two words differ to the end."""
    if len(words) < 2 or len(words[0]) != len(words[1]):
        return ""
    differ = np.array([a != b for a, b in zip(*words, strict=True)])
    if not differ[-1]:
        return ""
    first = len(differ) - int((~differ)[::-1].argmax()) if not differ.all() else 0
    return f"They diverge {'from the start' if first == 0 else f'{stages[first]} and stay apart'}."
