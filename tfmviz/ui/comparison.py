"""A tab on A and on B, side by side, by the same functions.

Figures of one name form a pair: they share a scale, their rows and columns are paired by name, and a pointer on one
shows in the other; below the first pair of pictures of cells stands B − A.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis.side_by_side import Pairing, difference, pair, pair_tokens
from tfmviz.plots import side_by_side as pictures
from tfmviz.plots.cells import Axis, Cells
from tfmviz.plots.charts import Chart
from tfmviz.record.trace import Encoding
from tfmviz.ui import side
from tfmviz.ui.figures import Drawing, Figure
from tfmviz.ui.head_comparison import HeadComparison, compare, lacks, stack_of
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.side import Side
from tfmviz.views.counts import Table
from tfmviz.words import markdown


def draw(name: str, both: HeadComparison, part: Callable[[PageContext], object], *, across: bool = True) -> None:
    """`across`: side by side, or else one above the other."""
    asked, answers = st.container(key=f"asked-of-{name}"), dict[str, object]()
    of_a, of_b = _places(both)
    partners = {"token": both.queries.partner, "to": both.keys.partner}
    a = Side(is_b=False, answers=answers, controls=asked, places=of_a, partners=partners)
    lacking = both.queries.partner(both.query) is None
    b = Side(is_b=True, answers=answers, controls=asked, places=of_b, partners=partners, lacks=lacking)
    columns = st.columns(2) if across else [st.container(), st.container()]
    below = st.container()
    for one, lesson, title, column in zip((a, b), both.about_the_same(), both.titles, columns, strict=True):
        with column, st.container(key=one.key(f"side-{name}")), side.during(one):
            st.markdown(f"**{markdown.plain(title)}**")
            if one.lacks:
                st.markdown(lacks(both))
            part(lesson)
    changes = [_pair_up(a, b, name) for name in {**a.figures, **b.figures}]
    with below:
        if change := next(filter(None, changes), None):
            change.draw()


def either(name: str, ctx: PageContext, ctx_b: PageContext | None, part: Callable[[PageContext], object]) -> None:
    if ctx_b is None:
        part(ctx)
    else:
        draw(name, compare(ctx, ctx_b), part)


def _pair_up(a: Side, b: Side, name: str) -> Figure | None:
    """Returns B − A where that can be drawn."""
    there = [(one, *one.figures[name]) for one in (a, b) if name in one.figures]
    drawings: Sequence[Drawing] = [figure.drawing for _, _, figure in there]
    change = None
    if len(drawings) == 2:
        if pickle.dumps(drawings[0]) == pickle.dumps(drawings[1]):
            _, (_, place, _) = there
            place.caption(side.SAME)
            there = there[:1]
        else:
            change = _difference(name, *drawings)
            drawings = _on_one_scale(*drawings)
    keys = [one.key(name) for one, _, _ in there]
    for (one, place, figure), drawing in zip(there, drawings, strict=False):
        own = one.key(name)
        others = [key for key in (*keys, *([change.key] if change else ())) if key != own]
        with place:
            drawn = replace(figure, key=own, drawing=drawing, linked=[*figure.linked, *others])
            (replace(drawn, on_pick=None, click="") if one.is_b else drawn).draw()
    return change


def _on_one_scale(a: Drawing, b: Drawing) -> tuple[Drawing, Drawing]:
    if isinstance(a, Cells) and isinstance(b, Cells):
        if (a.scale.colours, a.scale.title) == (b.scale.colours, b.scale.title):
            low, high = min(a.scale.low, b.scale.low), max(a.scale.high, b.scale.high)
            a, b = (replace(one, scale=replace(one.scale, low=low, high=high)) for one in (a, b))
        (rows_a, rows_b), (columns_a, columns_b) = _paired(a.rows, b.rows), _paired(a.columns, b.columns)
        return replace(a, rows=rows_a, columns=columns_a), replace(b, rows=rows_b, columns=columns_b)
    if isinstance(a, Table) and isinstance(b, Table):  # two landmarks must not have the same name
        return replace(a, caption=f"A: {a.caption}"), replace(b, caption=f"B: {b.caption}")
    if isinstance(a, Chart) and isinstance(b, Chart) and "layer" in a.spec and "layer" in b.spec:
        return _reaching(a, b), _reaching(b, a)
    return a, b


def _reaching(chart: Chart, other: Chart) -> Chart:
    layers, ends = list(chart.spec["layer"]), {}
    for axis in ("x", "y"):
        of_numbers = [
            (layer["data"]["name"], layer["encoding"][axis])
            for layer in other.spec["layer"]
            if layer.get("encoding", {}).get(axis, {}).get("type") == "quantitative" and "data" in layer
        ]
        found = [other.data[table][place["field"]] for table, place in of_numbers]
        if numbers := [float(n) for values in found for n in values if n is not None and np.isfinite(n)]:
            place = of_numbers[0][1]
            ends[f"{axis}_end"] = [min(numbers), max(numbers)]
            title = place.get("title", place["field"])
            encoding = {axis: {**place, "field": f"{axis}_end", "title": title}}
            mark = {"type": "point", "opacity": 0, "aria": False}
            layers.append({"data": {"name": "reach"}, "mark": mark, "encoding": encoding})
    return replace(chart, spec={**chart.spec, "layer": layers}, data={**chart.data, "reach": ends}) if ends else chart


def _paired(a: Axis, b: Axis) -> tuple[Axis, Axis]:
    """Places on one side only are boxed."""
    if (pairing := _pairing(a, b)) is None:
        return a, b
    only_a = [at for at, other in pairing.order if at is not None and other is None]
    only_b = [at for other, at in pairing.order if at is not None and other is None]
    return (
        replace(a, places=pairing.places(0), boxed=[*a.boxed, *only_a]),
        replace(b, places=pairing.places(1), boxed=[*b.boxed, *only_b]),
    )


def _pairing(a: Axis, b: Axis) -> Pairing | None:
    if not a.names or not b.names:
        return None
    return pair([name.strip() or name for name in a.names], [name.strip() or name for name in b.names])


def _difference(name: str, a: Drawing, b: Drawing) -> Figure | None:
    if not (isinstance(a, Cells) and isinstance(b, Cells)) or len(a.matrices) != 1 or len(b.matrices) != 1:
        return None
    rows, columns = _pairing(a.rows, b.rows), _pairing(a.columns, b.columns)
    if rows is None or columns is None or (a.scale.colours, a.scale.title) != (b.scale.colours, b.scale.title):
        return None
    one, other = (np.where(np.isfinite(drawn.matrices[0]), drawn.matrices[0], np.nan) for drawn in (a, b))
    values = difference(one, other, rows, columns)
    if a.scale.colours != "cividis":  # only for attention is a masked cell on one side a share of 0
        values[difference(np.isnan(one).astype(float), np.isnan(other).astype(float), rows, columns) != 0] = np.nan
    drawn = pictures.between(
        values,
        a,
        rows=pictures.merged(a.rows.title, (a.rows.names or (), b.rows.names or ()), rows.order),
        columns=pictures.merged(a.columns.title, (a.columns.names or (), b.columns.names or ()), columns.order),
    )
    return Figure(key=f"{name}_difference", drawing=drawn, linked=(name, f"{name}_b"))


def _places(both: HeadComparison) -> list[dict[str, list[int]]]:
    """The names of A's and B's tokens by the views' names for their texts; a translator's other text comes last.

    Stacks come first: a view that needs a place in any text is one of stacks.
    """
    found = [{stack_of(lesson): both.queries.places(n)} for n, lesson in enumerate(both.lessons)]
    (stack_a, text_a), (stack_b, text_b) = map(_other_text, both.lessons)
    if text_a and text_b:
        pairing = pair_tokens(text_a, text_b)
        for n, stack in enumerate((stack_a, stack_b)):
            found[n][stack] = [len(both.queries.order) + place for place in pairing.places(n)]
    return [{**one, "query": both.queries.places(n), "key": both.keys.places(n)} for n, one in enumerate(found)]


def _other_text(lesson: PageContext) -> tuple[str, Encoding | None]:
    if stack_of(lesson) == "encoder":
        return "decoder", lesson.trace.target if lesson.trace.source else None
    return "encoder", lesson.trace.source
