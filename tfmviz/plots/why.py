"""Pictures of a score as a sum over pairs of writers."""

from __future__ import annotations

from collections.abc import Sequence

from tfmviz.plots.cells import Axis, Cells, Form, chosen_cell, signed, written
from tfmviz.record.trace import Array


def terms(
    values: Array,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str],
    chosen: tuple[int, int] | None,
) -> Cells:
    """The terms of a score: a row for each writer of the query, a column for each writer of the key.

    Args:
        values: (row, column).
        titles: what rows and columns are.
        chosen: row and column to mark.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title=titles[0], names=rows, spoken=rows),
        columns=Axis(title=titles[1], names=columns, spoken=columns),
        scale=signed(values, "added to the score", root=True),
        form=Form(sign=True),
        texts=written(values, "+.2f"),
        frames=chosen_cell(chosen),
        row_height=30,
    )
