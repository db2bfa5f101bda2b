"""What a figure shows, in words, for screen readers: found in its marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfmviz.plots.cells import Axis, Cells
from tfmviz.plots.charts import Chart
from tfmviz.words.numbers import decimal

MOST_SAID = 12
"""So many marks, lines or rows are said one by one; more are counted."""


def of_chart(chart: Chart) -> str:
    """Its marks as the pointer finds them; of a line its two ends."""
    marks = chart.data[chart.values[0]]
    words = [str(word) for word in marks.get("hover", ())]
    if "line" in marks:
        if not words:  # of more points than answer a pointer
            points = zip(map(str, marks["line"]), marks["x"], marks["y"], strict=True)
            words = [f"{line[5:]}, {x:g}: {decimal(float(y), '.3g')}" for line, x, y in points]
        ends: dict[str, list[str]] = {}
        for line, word in zip(marks["line"], words, strict=True):
            ends.setdefault(str(line), [word, word])[1] = word
        words = [" … ".join(dict.fromkeys(both)) for both in ends.values()]
    return _listed(words, "marks")


def of_cells(picture: Cells) -> str:
    """Where every row of the first matrix is largest in size."""
    rows = picture.matrices[0]
    known = np.isfinite(rows).any(axis=1)
    return _listed([_row(picture, n, row) for n, row in enumerate(rows) if known[n]], "rows")


def _row(picture: Cells, n: int, row: np.ndarray) -> str:
    most = int(np.nanargmax(np.abs(np.where(np.isfinite(row), row, np.nan))))
    value = decimal(float(row[most]), f".{picture.form.digits}f")
    return f"{_named(picture.rows, n)}: {_named(picture.columns, most)}, {value}"


def _named(axis: Axis, n: int) -> str:
    return axis.spoken[n] if axis.spoken else f"{axis.title} {n}".strip()


def _listed(words: Sequence[str], what: str) -> str:
    more: Iterable[str] = [f"{len(words) - MOST_SAID} more {what}"] if len(words) > MOST_SAID else []
    return "; ".join([*words[:MOST_SAID], *more])
