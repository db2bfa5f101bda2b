"""A map of heads: two measurements place each point, and a point shows its head on the reader's sentence.

The view gets {"caption", "axes": [x, y], "points": […], "chosen": index or −1}. An axis is {"title", "low", "high"},
a point {"name", "about": a line on it, "x", "y", "kind": of the claim about the head that held, or "", "word": written
at the point, "rows", "cells": its pattern row by row, a digit 0 to 9 for each cell, a blank where masked; "" where it
does not read the sentence}.
"""

from __future__ import annotations

import numpy as np

from tfmviz.constants import TILE_STEPS
from tfmviz.record.trace import Array


def cells(thumbnail: Array, *, masked: int) -> str:
    """The text of a thumbnail.

    Args:
        thumbnail: (rows, columns), see `payload.thumbnails`: root of the weight, 0 to 254, or `masked`.
    """
    signs = np.rint(thumbnail / TILE_STEPS * 9).astype(np.uint8) + ord("0")
    signs[thumbnail == masked] = ord(" ")
    return signs.tobytes().decode("ascii")
