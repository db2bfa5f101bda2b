"""Changes of each word's vector when the words are reordered."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from tfmviz.record.trace import Array, Encoding

APOSTROPHES = "'’"


def words(text: str) -> list[int]:
    """The start of each word of a text, in characters.

    A word is a run of letters and digits, or of punctuation marks. Each Chinese character or kana is a word, unless
    spaces separate words.
    """
    kinds = [_kind(text, index) for index in range(len(text))]
    if re.search("AS+A", "".join(kind[0].upper() for kind in kinds if kind != "sign")):
        kinds = ["letter" if kind == "alone" else kind for kind in kinds]
    starts = []
    for index, kind in enumerate(kinds):
        before = kinds[index - 1] if index else None
        if before is None or (before != "space" and (kind != before or kind == "alone")):
            starts.append(index)
    return starts


def pieces(encoding: Encoding) -> list[tuple[int, ...]]:
    """The positions of the tokens of each word.

    Moving tokens rather than text keeps every token: rearranged text may be tokenized differently.
    """
    starts = words(encoding.text)
    belongs = [bisect_right(starts, start) for start, _ in encoding.offsets]
    return [tuple(group) for _, group in groupby(range(len(encoding)), key=belongs.__getitem__)]


def reordered(parts: Sequence[tuple[int, ...]], order: Sequence[int]) -> list[int]:
    """The positions of all tokens when `parts` are put in `order`."""
    return [token for part in order for token in parts[part]]


def largest_changes(before: Array, after: Array, order: Sequence[int]) -> Array:
    """The largest absolute change of a coordinate of each token's vector: (len,), in typed order.

    Args:
        before: (len, d_model), in typed order.
        after: (len, d_model), in the other order.
        order: the original position at each new one.
    """
    where = np.argsort(np.asarray(order, dtype=np.int64))
    return np.abs(after[where] - before).max(axis=-1)


def is_order(asked: Sequence[int], length: int) -> bool:
    """True if `asked` contains each of 0 … length - 1 once."""
    return sorted(asked) == list(range(length))


def _kind(text: str, index: int) -> str:
    character = text[index]
    if character.isspace():
        return "space"
    if character in APOSTROPHES and text[index - 1 : index].isalnum() and text[index + 1 : index + 2].isalnum():
        return "letter"  # don't
    if unicodedata.name(character, "").startswith(("CJK UNIFIED", "HIRAGANA", "KATAKANA")):
        return "alone"
    return "sign" if unicodedata.category(character)[0] in "PS" else "letter"
