"""Matrices of cells in the browser: heat maps that answer pointer and keyboard, and report clicks.

The header holds the fields of `plots.cells.Cells` under JavaScript's names; the array `values` holds the matrices one
under another, (matrix × row, column). `click` says what a click on a cell does ("": cells cannot be picked); `linked`
lists the keys of pictures on the same page that highlight the cell at the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from tfmviz.plots.cells import Axis, Cells, Scale
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.views.shared import pack


def payload(picture: Cells, *, name: str, alt: str, click: str = "", linked: Sequence[str] = ()) -> bytes:
    n_matrices, n_rows, n_columns = picture.matrices.shape
    stops = {mode: _stops(picture.scale, theme) for mode, theme in (("light", LIGHT), ("dark", DARK))}
    header = {
        "name": name,
        "alt": alt,
        "click": click,
        "linked": linked,
        "matrices": n_matrices,
        "titles": picture.titles,
        "rows": _axis(picture.rows, n_rows),
        "columns": _axis(picture.columns, n_columns),
        "scale": asdict(picture.scale) | {"stops": stops},
        "form": asdict(picture.form),
        "texts": picture.texts,
        "notes": picture.notes,
        "frames": [asdict(frame) for frame in picture.frames],
        "crosses": picture.crosses,
        "square": picture.square,
        "rowHeight": picture.row_height,
        "across": picture.across,
    }
    return pack(header, {"values": picture.matrices.reshape(-1, n_columns)})


def _axis(axis: Axis, count: int) -> dict[str, Any]:
    # `asdict` would copy every name
    return {field.name: getattr(axis, field.name) for field in fields(axis)} | {"count": count}


def _stops(scale: Scale, theme: Theme) -> list[str]:
    match scale.colours:
        case "cividis":
            return []
        case "open":
            return [theme.attention]
        case "probability":
            return [theme.norms[0], theme.probability]
        case "norms":
            return [*theme.norms]
        case "signed":
            return [*theme.signed]
