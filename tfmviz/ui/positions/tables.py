"""Tables of signed numbers, position by position."""

from __future__ import annotations

from tfmviz.plots.cells import Axis, Cells, Form, Texts, signed
from tfmviz.record.trace import Array


def table(
    values: Array,
    title: str,
    *,
    limit: float | None,
    axes: tuple[str, str] = ("position", "dimension"),
    texts: Texts | None = None,
) -> Cells:
    """Signed numbers, (rows, columns), rows from the top.

    Args:
        title: of the colour bar.
        limit: where the colours end; None: at the largest number in size.
    """
    rows, columns = map(Axis, axes)
    scale, height = signed(values, title, limit=limit), max(26, round(180 / len(values)))
    return Cells(values[None], rows, columns, scale, form=Form(digits=4), texts=texts, row_height=height)


def between(values: Array, title: str, both: Axis | None = None, limit: float = 1.0) -> Cells:
    """A signed number for any two positions, or any two tokens of a text, (n, n); the colours end at `limit`."""
    both = both or Axis("position")
    return Cells(values[None], both, both, signed(values, title, limit=limit), form=Form(digits=4), square=True)
