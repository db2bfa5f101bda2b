"""Pictures of a score as a sum over pairs of writers."""

from __future__ import annotations

from collections.abc import Sequence

from tfmviz.plots.cells import Axis, Cells, Form, chosen_cell, short, signed
from tfmviz.record.trace import Array

FEW_HEADS = 16
"""So many rows and columns have their numbers written into the cells."""


def terms(
    values: Array,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str],
    added: str,
    chosen: tuple[int, int] | None = None,
) -> Cells:
    """The terms of a sum, such as a score: a row for each writer of the query, a column for each writer of the key.

    Args:
        values: (row, column).
        titles: what rows and columns are.
        added: what the terms are, over the colours.
        chosen: row and column to mark.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title=titles[0], names=rows, spoken=rows),
        columns=Axis(title=titles[1], names=columns, spoken=columns),
        scale=signed(values, added, root=True),
        form=Form(sign=True),
        texts=short(values, "+.2f"),
        frames=chosen_cell(chosen),
        row_height=30,
    )


def composition(
    values: Array,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    chance: float,
    chosen: tuple[int, int] | None,
    what: str = "composition",
    reader: str = "head",
) -> Cells:
    """How far each later head reads what each earlier one writes, beyond chance.

    Args:
        values: (earlier head, later head), NaN where the second cannot follow the first.
        chance: what random heads have.
        what: is measured.
        reader: what the columns are.
    """
    return Cells(
        matrices=(values - chance)[None],
        rows=Axis(title="the earlier head writes", names=rows, spoken=[f"head {row}" for row in rows]),
        columns=Axis(title=f"the later {reader} reads", names=columns, spoken=[f"{reader} {name}" for name in columns]),
        scale=signed(values - chance, f"{what}, less that of random heads"),
        form=Form(sign=True),
        texts=short(values - chance, "+.2f") if max(values.shape) <= FEW_HEADS else None,
        frames=chosen_cell(chosen),
        row_height=30 if len(rows) <= FEW_HEADS else 14,
    )
