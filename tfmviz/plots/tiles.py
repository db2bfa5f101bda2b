"""Several matrices of one shape on one sheet: a single heat map, which a browser draws faster than many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmviz.plots.labels import escaped
from tfmviz.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sheet:
    """Matrices side by side, in rows.

    Attributes:
        cells: (rows, columns) of the whole sheet; NaN between the matrices and where they are masked.
        corners: row and column on the sheet of each matrix's first cell.
        notes: their titles, as Plotly annotations.
    """

    cells: Array
    corners: tuple[tuple[int, int], ...]
    notes: list[dict[str, Any]]


def lay_out(matrices: Sequence[Array], mask: Array, *, titles: Sequence[str], across: int) -> Sheet:
    """Puts matrices on a sheet.

    Args:
        matrices: each (q_len, k_len).
        mask: (q_len, k_len), True = may attend.
        titles: one per matrix.
        across: how many stand in a row.
    """
    q_len, k_len = mask.shape
    gap, head_room = max(1, k_len // 12), max(1, q_len // 4)
    down = -(-len(matrices) // across)
    cells = np.full((down * (q_len + head_room), across * (k_len + gap) - gap), np.nan)
    corners = tuple(
        ((n // across) * (q_len + head_room) + head_room, (n % across) * (k_len + gap)) for n in range(len(matrices))
    )
    notes: list[dict[str, Any]] = []
    for matrix, title, (top, left) in zip(matrices, titles, corners, strict=True):
        cells[top : top + q_len, left : left + k_len] = np.where(mask, matrix, np.nan)
        notes.append(
            {"x": left - 0.5, "y": top - 0.5, "text": escaped(title), "xanchor": "left", "yanchor": "bottom"}
            | {"showarrow": False, "font": {"size": 15}}
        )
    return Sheet(cells=cells, corners=corners, notes=notes)
