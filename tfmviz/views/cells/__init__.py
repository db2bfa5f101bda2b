"""Matrices of cells in the browser: heat maps that answer pointer and keyboard, and report clicks.

The header holds the fields of `plots.cells.Cells` under JavaScript's names. The array `values` holds the rows of all
matrices, each up to its last number; `lengths` says how many each has. Of B − A, `pair.other` and the array `other`
hold the same of B. `click` says what a click on a cell does ("": cells cannot be picked); `linked` lists the keys of
pictures on the same page that highlight the cell at the same places. Where `alt` is "", the browser says the largest
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from tfmviz.plots.cells import Axis, Cells, Scale
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.record.trace import Array
from tfmviz.views.shared import pack


def payload(picture: Cells, *, name: str, alt: str, click: str = "", linked: Sequence[str] = ()) -> bytes:
    n_matrices, n_rows, n_columns = picture.matrices.shape
    lengths, values = _cut(picture.matrices)
    arrays = {"values": values}
    stops = {mode: _stops(picture.scale, theme) for mode, theme in (("light", LIGHT), ("dark", DARK))}
    header = {
        "name": name,
        "alt": alt,
        "click": click,
        "linked": linked,
        "matrices": n_matrices,
        "lengths": lengths,
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
    if pair := picture.pair:
        header["pair"] = {field.name: getattr(pair, field.name) for field in fields(pair)}
        if other := pair.other:
            lengths, arrays["other"] = _cut(other.matrices)
            header["pair"]["other"] = {"queries": other.rows.names, "keys": other.columns.names, "lengths": lengths}
    return pack(header, arrays)


def _cut(matrices: Array) -> tuple[list[int], Array]:
    """The lengths of rows without the NaN at their ends, and what is left of all: of causal attention, half."""
    rows = matrices.reshape(-1, matrices.shape[-1])
    numbers = np.arange(1, rows.shape[1] + 1)
    lengths = np.where(np.isnan(rows), 0, numbers).max(axis=1, initial=0)
    return lengths.tolist(), rows[numbers <= lengths[:, None]]


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
