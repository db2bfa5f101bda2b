"""The text shipped for counting, made by `scripts/prepare_counting.py`."""

from __future__ import annotations

import lzma

from tfmviz.paths import PROJECT

FOLDER = PROJECT / "assets" / "texts" / "counting"

NAMES = ("counted.txt.xz", "held-out.txt.xz")
"""The text that is counted, and the held-out part."""


def read_corpus(name: str) -> str:
    """A text, one sentence per line, without the last line break.

    Raises:
        OSError, lzma.LZMAError: the file is missing or damaged.
    """
    return lzma.decompress((FOLDER / name).read_bytes()).decode("utf-8").rstrip("\n")
