"""A table whose rows can be chosen, and the sentences that the chosen row was counted in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table; all of it is text.

    Attributes:
        columns: titles. The first is the name of a row; of the others those with numbers are right-aligned.
        shares: length of the bar in the last column, from 0 to 1, for each row; empty: no bars.
        has_ground: whether 1 is all there is, as for probabilities: then a pale ground shows how long that is.
        picked: the chosen row; None: rows cannot be chosen.
        about: a line on the chosen row.
        low: whether the table is a few rows high and scrolls.
        sentences: text before, in and after the highlight.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    shares: Sequence[float] = ()
    has_ground: bool = False
    picked: int | None = None
    about: str = ""
    low: bool = False
    sortable: bool = False
    sentences: Sequence[tuple[str, str, str]] = ()

    def payload(self) -> dict[str, Any]:
        return {
            "caption": self.caption,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "shares": [float(share) for share in self.shares],
            "has_ground": self.has_ground,
            "picked": self.picked,
            "about": self.about,
            "low": self.low,
            "sortable": self.sortable,
            "sentences": [list(sentence) for sentence in self.sentences],
        }


def of_columns(columns: Mapping[str, Sequence[str]], *, caption: str, low: bool = False) -> Table:
    """A table whose first column names the rows; the others are numbers, already formatted.

    Streamlit's data frame writes its cells for screen readers 200 ms after the rest, and loads a megabyte.
    """
    return Table(caption=caption, columns=list(columns), rows=list(zip(*columns.values(), strict=True)), low=low)
