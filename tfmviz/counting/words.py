"""A small word tokenizer, and the indices of the words.

A token is, in this order: a Chinese or Japanese character; letters, with apostrophes inside ("don't"); a number ("3",
"1,000.5"); any other single character that is not white space. Case is ignored, and ’ counts as '.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

MARK, UNKNOWN = 0, 1
"""Indices of the boundary token between sentences, and of all words missing from the text."""

NAMES = ("⟨s⟩", "⟨unknown⟩")

_SIGNS = r"\u3040-\u30ff\u3400-\u9fff"
_LETTER = rf"[^\W\d_{_SIGNS}]"
_TOKEN = rf"[{_SIGNS}]|{_LETTER}+(?:['’]{_LETTER}+)*|\d+(?:[.,]\d+)*|\S"
TOKEN = re.compile(_TOKEN)
TOKEN_OR_LINE = re.compile(rf"\n|{_TOKEN}")

SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"”’')\]]*\s+|[。！？]|\n")
"""The end of a sentence in pasted text: . ! ? and white space, or a line break."""

CLOSING = frozenset(".!?。！？\"”'’)")
"""Characters that end a sentence, one after the other."""


@dataclass(frozen=True, slots=True)
class Word:
    name: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    return [Word(_name(found[0]), *found.span()) for found in TOKEN.finditer(text)]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that hold a token, with their final punctuation."""
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    parts = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [" ".join(part.split()) for part in parts if TOKEN.search(part)]


def stream_of(lines: Sequence[str]) -> tuple[Array, dict[str, int]]:
    """A text as word indices.

    Args:
        lines: not empty, without line breaks.

    Returns:
        (tokens,), int32: `MARK`, the first sentence, `MARK`, …, `MARK`; and the index of each word, from 2.
    """
    numbers = {"\n": MARK, NAMES[UNKNOWN]: UNKNOWN}
    found = _tokens(lines)
    number_of = {token: numbers.setdefault(_name(token), len(numbers)) for token in dict.fromkeys(found)}
    del numbers["\n"]
    return np.array([number_of[token] for token in found], dtype=np.int32), {NAMES[MARK]: MARK} | numbers


def encoded(lines: Sequence[str], numbers: Mapping[str, int]) -> Array:
    """Another text in the same indices, `UNKNOWN` for other words."""
    known = {"\n": MARK} | dict(numbers)
    return np.array([known.get(_name(token), UNKNOWN) for token in _tokens(lines)], dtype=np.int32)


def _tokens(lines: Sequence[str]) -> list[str]:
    """Tokens, with a line break before and after each sentence."""
    return TOKEN_OR_LINE.findall("\n".join(["", *lines, ""]))


def _name(token: str) -> str:
    return token.lower().replace("’", "'")
