from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfmviz.plots.cells import Axis, Cells
from tfmviz.plots.charts import Chart
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal

MOST_SAID = 64
"""Marks or rows that are read out one by one, as two bars for each word of a sentence; more are counted."""


def of_chart(chart: Chart) -> str:
    """Marks as the pointer finds them; of lines with very many points the two ends."""
    pointed = [table for table in chart.data.values() if "hover" in table]
    values = [chart.data[name] for name in chart.values]
    words: list[str] = []
    for marks in [table for table in values if "hover" in table] or pointed[:1] or values[:1]:
        tooltips = [str(word) for word in marks.get("hover", ())]
        if "line" in marks:
            if not tooltips:  # of more points than answer a pointer
                points = zip(map(str, marks["line"]), marks["x"], marks["y"], strict=True)
                tooltips = [f"{line[5:]}, {x:g}: {decimal(float(y), '.3g')}" for line, x, y in points]
            if len(tooltips) > MOST_SAID:
                ends: dict[str, list[str]] = {}
                for line, word in zip(marks["line"], tooltips, strict=True):
                    ends.setdefault(str(line), [word, word])[1] = word
                tooltips = [" … ".join(dict.fromkeys(both)) for both in ends.values()]
        words += tooltips
    return _listed(words, "marks")


def of_cells(picture: Cells) -> str:
    """The largest absolute value of every row of the only matrix, or of each of several matrices."""
    if not picture.matrices.size:
        return "no numbers yet"
    if len(picture.matrices) == 1:
        parts = picture.matrices[0][:, None]
        names = {_named(picture.rows, n): n for n in range(len(parts))}
    else:
        parts = picture.matrices
        names = {title: n for n, title in zip(range(len(parts)), picture.titles, strict=False)}
    sizes = np.where(np.isfinite(parts), np.abs(parts), -1.0).reshape(len(parts), -1)
    largest = sizes.argmax(axis=1)
    has_some = sizes.max(axis=1) >= 0
    tooltips = [f"{name}: {_value(picture, parts[n], int(largest[n]))}" for name, n in names.items() if has_some[n]]
    return _listed(tooltips, "rows") or "no numbers yet"


def _value(picture: Cells, part: Array, at: int) -> str:
    row, column = divmod(at, part.shape[1])
    value, form = float(part[row, column]), picture.form
    number = f"{value:.0%}" if form.percent else decimal(value, f"{'+' * form.sign}.{form.digits}f")
    of = f"{_named(picture.rows, row)}, " if len(picture.matrices) > 1 else ""
    return f"{of}{_named(picture.columns, column)}, {form.name}{number}{form.unit}"


def _named(axis: Axis, n: int) -> str:
    names = axis.spoken or axis.names
    return names[n] if names else f"{axis.title} {n}".strip()


def _listed(words: Sequence[str], what: str) -> str:
    more: Iterable[str] = [f"{len(words) - MOST_SAID} more {what}"] if len(words) > MOST_SAID else []
    return "; ".join([*words[:MOST_SAID], *more])
