from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfmviz.plots.cells import (
    Axis,
    Cells,
    Order,
    Scale,
    ValueFormat,
    differences,
    largest,
    of_heads,
    short,
    signed,
    written,
)
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal


def merged(title: str, names: tuple[Sequence[str], Sequence[str]], order: Order) -> Axis:
    """The tokens of both texts in one order; those of only one are boxed."""
    both = [names[0][a] if a is not None else names[1][b or 0] for a, b in order]
    in_quotes = [quoted(names[0])[a] if a is not None else quoted(names[1])[b or 0] for a, b in order]
    only = [" (only in B)" if a is None else " (only in A)" if b is None else "" for a, b in order]
    return Axis(
        title=title,
        names=both,
        spoken=[f"{title} {name}{where}" for name, where in zip(in_quotes, only, strict=True)],
        boxed=[n for n, where in enumerate(only) if where],
        places=[*range(len(both))],
    )


def between(values: Array, like: Cells, *, rows: Axis, columns: Axis) -> Cells:
    """B − A of two pictures of one quantity, in the format of `like`, one of the two; NaN where there is none."""
    form = replace(like.form, sign=True, words=None)
    texts = short(100 * values, "+.0f") if form.percent else differences(values)
    scale = replace(signed(values, like.scale.title, limit=largest(values), root=True), ticks=like.scale.ticks)
    drawn = Cells(values[None], rows, columns, scale, form=form, titles=("B − A",), texts=texts)
    return replace(drawn, square=like.square, row_height=like.row_height)


def changes(values: Array, *, chosen: tuple[int, int]) -> Cells:
    """The share of its attention that every head gives to other tokens in B, (layer, head), in [0, 1] or NaN."""
    return of_heads(
        values,
        scale=Scale(colours="norms", low=0, high=1, title="share of attention that has moved", ticks="per cent"),
        texts=written(np.round(100 * values), ".0f", absent="–"),
        chosen=chosen,
        form=ValueFormat(percent=True, digits=0),
    )


def likeness(cosines: Array, *, token: str, theme: Theme) -> Chart:
    """Cosine, (state,), of one token's vectors in A and B, from the embedding to the last layer."""
    x = np.arange(len(cosines), dtype=float)

    def tooltips(name: str, at: float, cosine: float) -> str:
        return f"{name}, layers passed {at:.0f}: cosine {decimal(cosine)}"

    lines = named_lines({token: (x, cosines)}, tooltips, theme=theme, dot=50)
    axes = Axes(x="layers passed", y="cosine of A's and B's vector", height=230, legend=False)
    return line_chart(lines, axes, theme=theme, y_range=(min(0.0, float(cosines.min())), 1.0))
