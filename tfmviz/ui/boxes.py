from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from tfmviz.record.model import Tokens
from tfmviz.text.tokenizer import Tokenizer, bytes_of_entry
from tfmviz.ui.figures import show_plain_view
from tfmviz.views import pieces
from tfmviz.views.pieces import Piece, Pieces
from tfmviz.words.labels import whole

BYTES = re.compile(r"\[byte ([0-9A-F ]+)\]")
"""A vocabulary's name for an entry that is only part of a character."""


def written(text: str) -> str:
    """Spaces and line ends become visible."""
    return ("␣" if text.startswith(" ") and not text.isspace() else "") + whole(text)


def box(entry: str, below: tuple[str, ...] = ()) -> Piece:
    if part := BYTES.fullmatch(entry):
        return Piece(part.group(1), below, "part")
    return Piece(written(entry), below)


def boxes(tokenizer: Tokens, text: str) -> list[Piece]:
    """The tokens of a text, without the special tokens that a model adds."""
    return [box(entry) for entry in entries(tokenizer, text)]


def marked(texts: Sequence[str], at: int | None, below: Sequence[str] = ()) -> list[Piece]:
    """Words as boxes, the one at a position highlighted, with a line `below` each."""
    return [Piece(written(text), tuple(below[n : n + 1]), "only" if n == at else "") for n, text in enumerate(texts)]


def entries(tokenizer: Tokens, text: str) -> list[str]:
    return [tokenizer.vocabulary[index] for index in ids_of(tokenizer, text)]


def ids_of(tokenizer: Tokens, text: str) -> Sequence[int]:
    """Tokens of a text as the model reads it: with gaps, if it fills gaps."""
    if isinstance(tokenizer, Tokenizer) and tokenizer.fills_gaps:
        return tokenizer.encode(text, max_len=sys.maxsize).ids
    return tokenizer.ids(text)


def spelled(symbol: str) -> Piece:
    raw = bytes_of_entry(symbol)
    assert raw is not None
    return of_bytes(raw)


def of_bytes(raw: bytes) -> Piece:
    """Characters, or numbers of bytes that are only part of one."""
    try:
        return Piece(written(raw.decode("utf-8")))
    except UnicodeDecodeError:
        return Piece(raw.hex(" ").upper(), kind="part")


def show_boxes(rows: Sequence[pieces.Row], *, key: str, caption: str, titles: tuple[str, str, str]) -> None:
    """Draws rows of boxes as a table, which screen readers read as it is."""
    data = Pieces(caption=caption, titles=titles, rows=rows).payload()
    show_plain_view("pieces", data=data, key=key)


def n_words(text: str) -> int:
    """Words between spaces, at least one."""
    return max(len(text.split()), 1)
