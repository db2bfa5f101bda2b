"""Pictures of cells as the browser gets them, and what it makes of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.node import call
from tests.traces import read_blob
from tfmviz.plots.cells import Cells
from tfmviz.plots.theme import DARK, Theme
from tfmviz.record.trace import Array
from tfmviz.views.cells import payload


def received(picture: Cells, **more: str) -> tuple[dict[str, Any], Array]:
    """What a picture says of itself, and its matrices (matrix, row, column)."""
    return unpacked(payload(picture, **{"name": "x", "alt": "y"} | more))


def unpacked(blob: bytes) -> tuple[dict[str, Any], Array]:
    """The same of bytes on their way to the browser; of heads that are compared, as the browser makes it of them."""
    header, data = read_blob(blob)
    found = drawn(blob) if header.get("pair") else header
    shape = header["matrices"], found["rows"]["count"], found["columns"]["count"]
    if header.get("pair"):
        return found, np.array(found["values"], float).reshape(shape)
    values = np.full((shape[0] * shape[1], shape[2]), np.nan, np.float32)
    entry = header["arrays"]["values"]
    is_sent = np.arange(shape[2]) < np.array(header["lengths"])[:, None]
    values[is_sent] = np.frombuffer(data, "<f4", offset=entry["at"], count=entry["shape"][0])
    return header, values.reshape(shape)


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


def colours(picture: Cells, values: Sequence[float], theme: Theme) -> Array:
    """Red, green and blue that the browser gives values: (value, 3)."""
    given = {"scale": received(picture)[0]["scale"], "values": list(values), "dark": theme is DARK}
    return np.array(call("cells/words.ts", "given.values.map(module.painter(given.scale, given.dark))", given))
