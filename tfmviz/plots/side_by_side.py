"""One head on A and on B, the difference of the two, and how much every head has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from tfmviz.constants import LEAST_SHARE
from tfmviz.plots.cells import (
    Axis,
    Cells,
    Form,
    Scale,
    chosen_cell,
    differences,
    largest,
    of_heads,
    share,
    shares,
    short,
    signed,
    written,
)
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted

Order = Sequence[tuple[int | None, int | None]]
"""The tokens of A and B in one order: the position of each in A and in B, None where that has no such token."""

Side = Literal[0, 1]
"""A or B."""


def axis(title: str, names: Sequence[str], order: Order, side: Side) -> Axis:
    """The tokens of A or B as rows or columns; what the other text lacks has a box around it."""
    places = {place[side]: n for n, place in enumerate(order)}
    return Axis(
        title=title,
        names=names,
        spoken=[f"{title} {n} “{name}”" for n, name in enumerate(names)],
        boxed=[n for n in range(len(names)) if None in order[places[n]]],
        places=[places[n] for n in range(len(names))],
    )


def merged(title: str, names: tuple[Sequence[str], Sequence[str]], order: Order) -> Axis:
    """The tokens of both texts in one order; what only one has has a box around it."""
    both = [names[0][a] if a is not None else names[1][b or 0] for a, b in order]
    said = [quoted(names[0])[a] if a is not None else quoted(names[1])[b or 0] for a, b in order]
    only = [" (only in B)" if a is None else " (only in A)" if b is None else "" for a, b in order]
    return Axis(
        title=title,
        names=both,
        spoken=[f"{title} {name}{where}" for name, where in zip(said, only, strict=True)],
        boxed=[n for n, where in enumerate(only) if where],
        places=[*range(len(both))],
    )


def attention(
    pattern: Array,
    *,
    rows: Axis,
    columns: Axis,
    title: str,
    cell: tuple[int, int] | None,
    blind: Sequence[int] = (),
) -> Cells:
    """One head's attention on one side.

    Args:
        pattern: (q_len, k_len), rows sum to 1; NaN where a mask forbids the look.
        cell: query and key to mark.
        blind: rows whose softmax is 0/0, which they say.
    """
    picture = _picture(pattern, rows, columns, scale=share(), title=title, cell=cell)
    if not blind or picture.texts is None:
        return picture
    undefined = ["0/0"] * pattern.shape[1]
    return replace(picture, texts=[undefined if n in blind else row for n, row in enumerate(picture.texts)])


def difference(values: Array, *, rows: Axis, columns: Axis, cell: tuple[int, int] | None) -> Cells:
    """B − A of shares of attention for the tokens of both; grey where one of them has no such cell.

    Args:
        values: (row, column), in [−1, 1] or NaN.
        cell: row and column to mark.
    """
    scale = signed(values, "share of attention", limit=largest(values, nothing=LEAST_SHARE), root=True)
    return _picture(values, rows, columns, scale=scale, title="B − A", cell=cell, sign=True)


def between(values: Array, like: Cells, *, rows: Axis, columns: Axis) -> Cells:
    """B − A of two pictures of one quantity, said as they say it.

    Args:
        values: (row, column), NaN where there is no difference.
        like: one of the two.
    """
    form = replace(like.form, sign=True, words=None)
    texts = short(100 * values, "+.0f") if form.percent else differences(values)
    scale = replace(signed(values, like.scale.title, limit=largest(values), root=True), ticks=like.scale.ticks)
    drawn = Cells(values[None], rows, columns, scale, form=form, titles=("B − A",), texts=texts)
    return replace(drawn, square=like.square, row_height=like.row_height)


def changes(values: Array, *, chosen: tuple[int, int]) -> Cells:
    """How much of its attention every head gives to other tokens in B, as a map.

    Args:
        values: (layer, head), in [0, 1] or NaN.
        chosen: layer and head to mark.
    """
    return of_heads(
        values,
        scale=Scale(colours="norms", low=0, high=1, title="share of attention that has moved", ticks="per cent"),
        texts=written(np.round(100 * values), ".0f", absent="–"),
        chosen=chosen,
        form=Form(percent=True, digits=0),
    )


def likeness(cosines: Array, *, token: str, theme: Theme) -> Chart:
    """How alike the vectors of one token in A and B are, from the embedding to the last layer.

    Args:
        cosines: (state,), in [−1, 1].
    """
    x = np.arange(len(cosines), dtype=float)
    lines = named_lines({token: (x, cosines)}, "{} after {:.0f} layers: cosine {:.2f}".format, theme=theme, dot=50)
    axes = Axes(x="layers passed", y="cosine of A's and B's vector", height=230, legend=False)
    return line_chart(lines, axes, theme=theme, y_range=(min(0.0, float(cosines.min())), 1.0))


def _picture(
    values: Array,
    rows: Axis,
    columns: Axis,
    *,
    scale: Scale,
    title: str,
    cell: tuple[int, int] | None,
    sign: bool = False,
) -> Cells:
    return Cells(
        matrices=values[None],
        rows=rows,
        columns=columns,
        scale=scale,
        form=Form(digits=3, sign=sign),
        titles=(title,),
        texts=differences(values) if sign else shares(values),
        frames=chosen_cell(cell),
        square=True,
    )
