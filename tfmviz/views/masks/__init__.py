"""The mask laboratory: a gallery to start from, and a grid whose cells open and close by hand.

Masks travel as bits, row by row, highest bit first, in base64. An address holds only the bits that differ from the
starting mask, deflated, so that a few changed cells take a few characters at any length.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping

import numpy as np

from tfmviz.constants import LONGEST_MASK
from tfmviz.record.trace import Array


def to_bits(mask: Array) -> str:
    return base64.b64encode(np.packbits(mask).tobytes()).decode()


def from_bits(text: str, shape: tuple[int, int]) -> Array | None:
    """The mask; None if the text is none of this shape."""
    try:
        return _unpacked(base64.b64decode(text, validate=True), shape)
    except (binascii.Error, ValueError):
        return None


def compact(changed: Array) -> str:
    """The cells that differ from the starting mask, as text for an address; "" if none does."""
    if not changed.any():
        return ""
    return base64.urlsafe_b64encode(zlib.compress(np.packbits(changed).tobytes(), 9)).decode().rstrip("=")


def expand(text: str, shape: tuple[int, int]) -> Array | None:
    """The cells that `compact` wrote; None if the text is not for this shape. Inflates no more than a mask needs."""
    if len(text) > LONGEST_MASK:
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return _unpacked(zlib.decompressobj().decompress(data, (shape[0] * shape[1] + 7) // 8 + 1), shape)
    except (binascii.Error, ValueError, zlib.error):
        return None


def _unpacked(data: bytes, shape: tuple[int, int]) -> Array | None:
    cells = shape[0] * shape[1]
    if len(data) != (cells + 7) // 8:
        return None
    return np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=cells).reshape(shape).astype(bool)


def entry(mask: Array, **words: str | bool) -> Mapping[str, object]:
    return words | {"rows": mask.shape[0], "columns": mask.shape[1], "bits": to_bits(mask)}
