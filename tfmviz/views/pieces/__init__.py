"""Texts cut into pieces, one above the other: a row for each way to cut, a box for each piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

MOST_PIECES = 300
"""Pieces of a row that are drawn; the rest are counted."""

Kind = Literal["", "part", "mark", "next", "new", "only", "tap"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A box.

    Attributes:
        below: lines below it, joined to it by strokes, such as its number in the vocabulary.
        kind: "part" of a character, a "mark" that is no text, what is merged "next", what is "new", what stands "only"
            in this row, what a "tap" writes.
    """

    text: str
    below: tuple[str, ...] = ()
    kind: Kind = ""


@dataclass(frozen=True, slots=True)
class Row:
    """`name`: written before the row. `note`: how many pieces there are, or another short remark."""

    name: str
    note: str
    pieces: Sequence[Piece]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pieces:
    """The picture.

    Attributes:
        caption: what the rows show, for screen readers too.
        titles: of the columns: what the rows differ in, the notes, and the pieces.
    """

    caption: str
    titles: tuple[str, str, str]
    rows: Sequence[Row]

    def payload(self) -> dict[str, Any]:
        return {"caption": self.caption, "titles": list(self.titles), "rows": [_row(row) for row in self.rows]}


def _row(row: Row) -> dict[str, Any]:
    pieces = [[piece.text, piece.kind, *piece.below] for piece in row.pieces[:MOST_PIECES]]
    return {"name": row.name, "note": row.note, "pieces": pieces, "left_out": max(len(row.pieces) - MOST_PIECES, 0)}
