"""A picture of a few cells, to look at and to draw on.

Cells travel as a text, row by row: a character for each, from "0" to "g", which is 16.
"""

from __future__ import annotations

import numpy as np

from tfmviz.constants import INKS
from tfmviz.record.trace import Array


def to_text(picture: Array) -> str:
    return "".join(INKS[value] for value in picture.ravel().tolist())


def from_text(text: str, side: int) -> Array | None:
    """The picture; None if the text is none of this size."""
    if len(text) != side**2 or set(text) - set(INKS):
        return None
    return np.array([INKS.index(one) for one in text], dtype=np.uint8).reshape(side, side)
