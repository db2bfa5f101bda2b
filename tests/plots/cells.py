"""Pictures of cells as the browser gets them, and what it makes of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.node import call
from tests.traces import read_blob
from tfmviz.plots.cells import Cells
from tfmviz.plots.side_by_side import HeadPair
from tfmviz.plots.theme import DARK, Theme
from tfmviz.record.trace import Array
from tfmviz.views.cells import payload, payload_of_pair


def received(picture: Cells | HeadPair, **more: str) -> tuple[dict[str, Any], Array]:
    """What a picture says of itself, and its matrices (matrix, row, column)."""
    about = {"name": "x", "alt": "y"} | more
    if isinstance(picture, HeadPair):
        return unpacked(payload_of_pair(picture, follows=False, **about))
    return unpacked(payload(picture, **about))


def unpacked(blob: bytes) -> tuple[dict[str, Any], Array]:
    """The same of bytes on their way to the browser."""
    header, data = read_blob(blob)
    if "pair" in header:
        found = drawn(blob)
        shape = 1, found["rows"]["count"], found["columns"]["count"]
        return found, np.array(found.pop("values"), float).reshape(shape)
    entry = header["arrays"]["values"]
    shape = header["matrices"], header["rows"]["count"], header["columns"]["count"]
    assert entry["shape"] == [shape[0] * shape[1], shape[2]]
    return header, np.frombuffer(data, "<f4", offset=entry["at"]).reshape(shape)


def drawn(blob: bytes) -> dict[str, Any]:
    """The picture that the browser makes of bytes, with what it says to those who cannot see it."""
    expression = """(() => {
        const picture = module.pictureIn(Uint8Array.from(given));
        return { ...picture, alt: picture.alt || module.altOf(picture), values: [...picture.values] };
    })()"""
    found: dict[str, Any] = call("cells/words.ts", expression, list(blob))
    return found


def sentences(picture: Cells, cells: Sequence[tuple[int, int]], *, matrix: int = 0) -> list[str]:
    """What the browser says of cells (row, column)."""
    header, values = received(picture)
    given = {
        "picture": header | {"values": values.ravel().tolist()},
        "cells": [{"matrix": matrix, "row": row, "column": column} for row, column in cells],
    }
    said: list[str] = call("cells/words.ts", "given.cells.map((cell) => module.sentence(given.picture, cell))", given)
    return said


def colours(picture: Cells | HeadPair, values: Sequence[float], theme: Theme) -> Array:
    """Red, green and blue that the browser gives values: (value, 3)."""
    given = {"scale": received(picture)[0]["scale"], "values": list(values), "dark": theme is DARK}
    return np.array(call("cells/words.ts", "given.values.map(module.painter(given.scale, given.dark))", given))
