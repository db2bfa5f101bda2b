"""How each word's vector changes when the words change places."""

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
    """Where each word of a text begins; the white space before a word belongs to it.

    A word is a run of letters and digits, or a run of punctuation marks. Each Chinese character or kana is a word,
    unless spaces between them show where the words are.

    Returns:
        Indices of characters, ascending from 0; empty for an empty text.
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
    """The tokens of each word.

    Moving whole pieces keeps every token as it is. Text that is rearranged and tokenized again may become other tokens,
    since most words carry the space before them and the first one does not.

    Returns:
        Positions of tokens, ascending, all of them.
    """
    starts = words(encoding.text)
    belongs = [bisect_right(starts, start) for start, _ in encoding.offsets]
    return [tuple(group) for _, group in groupby(range(len(encoding)), key=belongs.__getitem__)]


def reordered(parts: Sequence[tuple[int, ...]], order: Sequence[int]) -> list[int]:
    """The positions of all tokens in their new order, when `parts` are put in `order`."""
    return [token for part in order for token in parts[part]]


def largest_changes(before: Array, after: Array, order: Sequence[int]) -> Array:
    """How much each token's vector has changed: the largest absolute difference of any of its numbers.

    Args:
        before: (len, d_model), one vector per token of the text as typed.
        after: (len, d_model), of the same tokens in another order.
        order: the token of the text as typed that stands at each position, see `reordered`.

    Returns:
        (len,), per token of the text as typed, at least 0.
    """
    where = np.argsort(np.asarray(order, dtype=np.int64))
    return np.abs(after[where] - before).max(axis=-1)


def is_order(asked: Sequence[int], length: int) -> bool:
    """Whether `asked` contains each of 0 … length - 1 once."""
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
