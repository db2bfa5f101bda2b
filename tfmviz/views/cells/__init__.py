"""Matrices of cells in the browser: heat maps that answer pointer and keyboard, and report clicks.

The header holds the fields of `plots.cells.Cells` under JavaScript's names; the array `values` holds the matrices one
under another, (matrix × row, column). `click` says what a click on a cell does ("": cells cannot be picked); `linked`
lists the keys of pictures on the same page that highlight the cell at the same places. Where `alt` is "", the browser
says the largest values.

Of a head of A and B the header also holds `pair`, and the arrays `0` and `1` hold A's and B's pattern: of these the
browser makes matrix, rows, columns, texts, frames and the ends of the scale. A row of a pattern ends with the last key
that it may look at; `lengths` says how many it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from tfmviz.plots.cells import Axis, Cells, Scale, ValueFormat, share
from tfmviz.plots.side_by_side import HeadPair
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.record.trace import Array
from tfmviz.views.shared import pack


def payload(picture: Cells, **about: Any) -> bytes:
    """`about`: see `_header`."""
    return pack(_header(picture, **about), {"values": picture.matrices.reshape(-1, picture.matrices.shape[-1])})


def payload_of_pair(pair: HeadPair, *, follows: bool, **about: Any) -> bytes:
    """A's picture, B's, or that of B − A.

    Args:
        follows: without a colour bar.
        about: see `_header`.
    """
    is_difference = pair.shows is None
    scale = share("" if follows else "share of attention")
    look = Cells(
        np.empty((1, 0, 0)),
        Axis("query"),
        Axis("key"),
        replace(scale, colours="signed") if is_difference else scale,
        form=ValueFormat(sign=is_difference),
        titles=(pair.title,),
        square=True,
    )
    sent = {field: getattr(pair, field) for field in ("shows", "queries", "keys", "cell", "blind")}
    sides, arrays = {}, {}
    for n, side in enumerate(pair.sides):
        if pair.shows in (n, None):
            lengths = _lengths(side.pattern)
            arrays[str(n)] = side.pattern[np.arange(len(side.keys)) < lengths[:, None]]
            sides[n] = {"queries": side.queries, "keys": side.keys, "lengths": lengths.tolist()}
    return pack(_header(look, **about) | {"pair": sent | {"sides": sides}}, arrays)


def _lengths(pattern: Array) -> Array:
    """How many keys each row has up to the last that is not masked."""
    is_open = ~np.isnan(pattern)
    return np.where(is_open.any(axis=1), pattern.shape[1] - is_open[:, ::-1].argmax(axis=1), 0)


def _header(picture: Cells, *, name: str, alt: str, click: str = "", linked: Sequence[str] = ()) -> dict[str, Any]:
    n_matrices, n_rows, n_columns = picture.matrices.shape
    stops = {mode: _stops(picture.scale, theme) for mode, theme in (("light", LIGHT), ("dark", DARK))}
    return {
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
