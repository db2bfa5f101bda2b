"""Pictures made of cells: matrices on one scale of colours, with names of rows and columns.

`views/cells` draws them in the browser, where it knows width, theme and pointer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np

from tfmviz.constants import LEFT_BY_ROUNDING, MOST_WRITTEN
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import decimal

Texts = Sequence[Sequence[str]]

Order = Sequence[tuple[int | None, int | None]]
"""The tokens of A and B in one order: the position of each in A and in B, None where that has no such token."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Rows or columns.

    Attributes:
        title: "query".
        names: None draws their numbers, an empty sequence nothing.
        spoken: shown under the pointer for each; None: title and number.
        boxed: positions of names with a box around them.
        places: identify rows or columns in linked pictures, so that a pointer on one shows in the others too.
    """

    title: str
    names: Sequence[str] | None = None
    spoken: Sequence[str] | None = None
    _: KW_ONLY
    boxed: Sequence[int] = ()
    places: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """The meaning of the colours.

    Attributes:
        colours: cividis is a share of attention, "probability" that of a word, "norms" a length from faint to
            strong, "signed" purple below the middle and orange above, "open" the one colour of what a mask allows.
        low, high: values of the first and the last colour.
        title: words over the colour bar; without them there is no bar.
        root: the colour of v is the plain scale's at √|v|, so that small values are visible; the bar stays true.
        ticks: format of the bar's numbers.
    """

    colours: Literal["cividis", "probability", "norms", "signed", "open"]
    low: float
    high: float
    title: str = ""
    _: KW_ONLY
    root: bool = False
    ticks: Literal["decimal", "whole", "per cent"] = "decimal"


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueFormat:
    """A cell's value under the pointer.

    Attributes:
        name: precedes the number, with its space.
        digits: after the point.
        sign: writes a plus too.
        percent: the value is a share.
        unit: follows the number, with its space.
        words: replace the number: of a cell with a value, and of one without.
        absent: for NaN, and for −∞.
    """

    name: str = ""
    digits: int = 3
    sign: bool = False
    percent: bool = False
    unit: str = ""
    words: tuple[str, str] | None = None
    absent: tuple[str, str] = ("–", "–")


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """A rectangle around cells, from row `top` and column `left` up to but not including `bottom` and `right`.

    A line where it has no height or no width. Parts of a cell are allowed.
    """

    top: float
    left: float
    bottom: float
    right: float
    colour: Literal["accent", "plain", "text"] = "accent"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A picture.

    Attributes:
        matrices: (matrix, row, column), the first row on top; non-finite cells are hatched, like masked ones;
            −∞ is empty where `ValueFormat.absent` names it.
        titles: one for each matrix, or none.
        texts: by row and column, written into the cell where they fit; matrices one under another.
        notes: by row and column of the only matrix, added under the pointer.
        frames, crosses: marks on each matrix; a cross is (row, column).
        square: cells are as high as wide; otherwise the picture is as wide as there is room.
        row_height: pixels; less where there are very many rows, more where the texts need it.
        across: the most matrices that stand side by side.
        pair: of a head that is compared; the browser then makes the parts that have defaults here.
    """

    matrices: Array
    rows: Axis
    columns: Axis
    scale: Scale
    _: KW_ONLY
    form: ValueFormat = ValueFormat()
    titles: tuple[str, ...] = ()
    texts: Texts | None = None
    notes: Texts | None = None
    frames: tuple[Frame, ...] = ()
    crosses: tuple[tuple[int, int], ...] = ()
    square: bool = False
    row_height: int = 34
    across: int = 3
    pair: HeadPair | None = None

    def without_bar(self) -> Cells:
        """The same next to a picture whose colour bar and hint suffice."""
        scale = replace(self.scale, title="")
        return replace(self, scale=scale, titles=self.titles or (self.scale.title,))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class HeadPair:
    """What a head of A or of B has to do with the other one; see `views/cells/head_pair.ts`.

    Attributes:
        side: 0 for A, 1 for B.
        queries, keys: of both in one order.
        cell: query and key of A, to mark on both sides.
        blind: rows of B whose softmax is 0/0, as their cells say.
        other: B, for a picture of B − A.
    """

    side: Literal[0, 1]
    queries: Order
    keys: Order
    cell: tuple[int, int]
    blind: Sequence[int] = ()
    other: Cells | None = None


def of_tokens(title: str, tokens: Sequence[str], *, first: int = 0) -> Axis:
    """Tokens from the first on; equal ones are told apart by their positions."""
    spoken = [f"{title} {position} “{whole(token)}”" for position, token in enumerate(tokens)]
    return Axis(title, [visible(token) for token in tokens[first:]], spoken[first:])


def named(names: Sequence[str], title: str = "") -> Axis:
    """Names are also shown under the pointer."""
    return Axis(title, names, names)


def of_heads(values: Array, scale: Scale, *, chosen: tuple[int, int] | None = None, **look: Any) -> Cells:
    """A number of every head, (layer, head); one of them is framed."""
    return Cells(values[None], Axis("layer"), Axis("head"), scale, frames=chosen_cell(chosen), **look)


def of_pairs(matrices: Array, queries: Sequence[str], keys: Sequence[str], scale: Scale, **look: Any) -> Cells:
    """A number of every query with every key, (matrix, query, key)."""
    return Cells(matrices, of_tokens("query", queries), of_tokens("key", keys), scale, square=True, **look)


def unlabelled(axis: Axis) -> Axis:
    """The same with names under the pointer only."""
    return Axis(title="", names=(), spoken=axis.spoken)


def masked(matrices: Sequence[Array], mask: Array) -> Array:
    """NaN where the mask (True = may attend) is closed."""
    return np.where(mask, np.stack(matrices).astype(float), np.nan)


def share(title: str = "share of attention") -> Scale:
    """Shares of attention: cividis, fixed to [0, 1], small ones visible."""
    return Scale(colours="cividis", low=0, high=1, title=title, root=True)


def probability(title: str) -> Scale:
    """Probabilities of words: the deeper the more probable, small ones visible."""
    return Scale(colours="probability", low=0, high=1, title=title, root=True)


def signed(values: Array, title: str, *, limit: float | None = None, root: bool = False) -> Scale:
    """Colours around 0 that end at ±`limit`; None: at the largest absolute value."""
    end = limit or largest(values)
    return Scale(colours="signed", low=-end, high=end, title=title, root=root)


def amounts(values: Array, title: str, *, ticks: Literal["decimal", "whole", "per cent"] = "decimal") -> Scale:
    """Lengths and counts: from 0 to the largest."""
    return Scale(colours="norms", low=0, high=largest(values), title=title, ticks=ticks)


def largest(values: Array, *, nothing: float = LEFT_BY_ROUNDING) -> float:
    """The largest finite absolute value; 1 where that is only `nothing`, which then has the colour of nothing."""
    found = float(np.abs(values[np.isfinite(values)]).max(initial=0))
    return found if found > nothing else 1.0


def chosen_cell(cell: tuple[int, int] | None) -> tuple[Frame, ...]:
    return () if cell is None else (Frame(top=cell[0], left=cell[1], bottom=cell[0] + 1, right=cell[1] + 1),)


def chosen_row(row: int, n_columns: int) -> tuple[Frame, ...]:
    return (Frame(top=row, left=0, bottom=row + 1, right=n_columns),)


def chosen_column(column: int | None, n_rows: int) -> tuple[Frame, ...]:
    return () if column is None else (Frame(top=0, left=column, bottom=n_rows, right=column + 1),)


def written(values: Array, form: str, *, absent: str = "") -> Texts | None:
    """Numbers for the cells of a matrix (row, column), `absent` where there is none; None where there are too many."""
    if max(values.shape) > MOST_WRITTEN:
        return None
    return [[decimal(v, form) if math.isfinite(v) else absent for v in row] for row in values.tolist()]


def short(values: Array, form: str) -> Texts | None:
    """The same for signed numbers, with a dot for almost nothing."""
    texts, nothing = written(values, form), decimal(0, form)
    return texts and [["·" if text == nothing else text for text in row] for row in texts]


def shares(values: Array) -> Texts | None:
    """The same for shares of attention, as the explorer writes them: “.89”, “1.0”, a dot for almost nothing."""
    texts = short(values, ".2f")
    return texts and [["1.0" if text == "1.00" else text.removeprefix("0") for text in row] for row in texts]


def differences(values: Array) -> Texts | None:
    """The same for differences: “+.07”, “−10.50”."""
    texts = short(values, "+.2f")
    return texts and [[re.sub(r"^(.)0\.", r"\1.", text) for text in row] for row in texts]
