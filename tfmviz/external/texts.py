"""The tokens of attention that somebody else computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tfmviz.record.trace import Array, Encoding
from tfmviz.text.tokenizer import bytes_of_entry, located

CONTINUES = "##"
"""WordPiece's prefix of a token that continues a word."""


def first_given(given: Any, file: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The argument, else the file's entry under one of these names."""
    return given if given is not None else next((file[name] for name in names if file.get(name) is not None), None)


def encoding(given: Any, tokenizer: Any, n: int, *, name: str, may_end_later: bool = False) -> Encoding:
    """Tokens as words, or as ids with a tokenizer.

    Args:
        given: a sequence of strings or of whole numbers.
        tokenizer: of transformers or tokenizers; None: `given` are words.
        n: their number according to the weights.
        may_end_later: leaves out one more token, written last and never read.

    Raises:
        ValueError: they are no tokens, or not so many.
    """
    if given is None:
        raise ValueError(f"The tokens are missing: give {n} words as {name}=, or ids and a tokenizer.")
    if isinstance(given, str | bytes):
        raise ValueError(f"{name} is one text. Give its tokens as a list; there are {n}.")
    if isinstance(given, Mapping) and "input_ids" in given:  # all that a tokenizer of transformers returns
        given = given["input_ids"]
    found = given.tolist() if hasattr(given, "tolist") else given
    entries = list(found) if isinstance(found, Iterable) else [found]
    if len(entries) == 1 and isinstance(entries[0], list | tuple):  # a batch of one
        entries = list(entries[0])
    entries = [entry.item() if hasattr(entry, "item") else entry for entry in entries]
    ids: tuple[int, ...] | None = None
    if entries and all(isinstance(entry, int) and not isinstance(entry, bool) for entry in entries):
        if tokenizer is None:
            raise ValueError(f"{name} holds ids: give the tokenizer that made them, tokenizer=.")
        ids, entries = tuple(entries), _entries(entries, tokenizer)
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"{name} holds neither words nor ids alone.")
    if may_end_later and len(entries) == n + 1:
        ids, entries = ids and ids[:-1], entries[:-1]
    if len(entries) != n:
        raise ValueError(f"{name} has {len(entries)} tokens, but the attention has {n}.")
    entries = [sound(entry) for entry in entries]
    tokens = readable(entries)
    numbers = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    return _encoding(tokens, ids or tuple(numbers[entry] for entry in entries))


MOST_PARTS = 8
"""Parts of a text that can be told apart."""

MARK = re.compile(r"\[[A-Z]+\]|<[^<>\s]+>")
"""The spelling of special tokens: [CLS], </s>, <|im_end|>."""


def segments(given: Any, tokens: Any, tokenizer: Any, entries: Sequence[str]) -> tuple[str, ...]:
    """The part of each token, "" for special tokens in between; empty for a single part.

    Args:
        given: names, or numbers of parts; None: those that a tokenizer gave `tokens` of a pair of sentences.

    Raises:
        ValueError: there are not as many as tokens, or too many parts.
    """
    if given is None:
        given = _of_pair(tokens)
    if given is None:
        return ()
    found = given.tolist() if hasattr(given, "tolist") else list(given)
    if len(found) == 1 and isinstance(found[0], list | tuple):  # a batch of one
        found = list(found[0])
    if len(found) == len(entries) + 1:  # with the token that a model wrote last, which `encoding` leaves out
        found = found[:-1]
    if len(found) != len(entries):
        raise ValueError(f"segments has {len(found)} entries, but there are {len(entries)} tokens.")
    marks = set(getattr(tokenizer, "all_special_tokens", ()))
    are_marks = [entry in marks or MARK.fullmatch(entry) is not None for entry in entries]
    names = tuple(map(_named, found, are_marks))
    n_parts = len(set(names) - {""})
    if n_parts > MOST_PARTS:
        raise ValueError(f"segments names {n_parts} parts of the text; a page tells {MOST_PARTS} apart.")
    return names if n_parts > 1 else ()


def _of_pair(tokens: Any) -> Any:
    """The segments that a tokenizer of transformers gave a pair of sentences."""
    if not isinstance(tokens, Mapping) or "input_ids" not in tokens:
        return None
    try:
        return tokens.sequence_ids(0)  # type: ignore[attr-defined]  # of a BatchEncoding: None for special tokens
    except (AttributeError, ValueError):  # no BatchEncoding, or of a slow tokenizer
        return tokens.get("token_type_ids")


def _named(part: Any, is_mark: bool) -> str:
    if part is None:
        return ""
    if isinstance(part, str):
        return sound(part)
    return "" if is_mark else chr(ord("A") + int(part) % 26)


def sound(text: str) -> str:
    """Text that UTF-8 can hold: halves of a character become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _entries(ids: Sequence[int], tokenizer: Any) -> list[str]:
    """Entries of a vocabulary. Raises: ValueError, if it lacks one, or is none."""
    named = getattr(tokenizer, "convert_ids_to_tokens", None) or getattr(tokenizer, "id_to_token", None)
    if named is None:
        raise ValueError("The tokenizer is none of transformers or tokenizers: it names no token.")
    found = []
    for index in ids:
        try:
            found.append(named(index))
        except (IndexError, KeyError, OverflowError):
            found.append(None)
        if found[-1] is None:
            raise ValueError(f"The tokenizer does not know the id {index}: it is another model's.")
    return [entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry) for entry in found]


def readable(entries: Sequence[str]) -> tuple[str, ...]:
    """Entries of a vocabulary as text: “Ġthe” and “▁the” as “ the”, “ä¸Ń” as “中”."""
    if any(entry.startswith("▁") for entry in entries):
        return tuple(entry.replace("▁", " ") for entry in entries)
    raw = [bytes_of_entry(entry) for entry in entries]
    if not any(entry.startswith(("Ġ", "Ċ")) for entry in entries) or not all(raw):
        return tuple(entries)
    try:
        text = b"".join(part or b"" for part in raw).decode("utf-8")
    except UnicodeDecodeError:  # cut within a character, or words in an alphabet that has a Ġ
        return tuple(entries)
    return located(text, [len(part or b"") for part in raw])[0]


def in_words(text: Encoding) -> tuple[Encoding, Array]:
    """The words that tokens are pieces of, and where each begins.

    In WordPiece a word goes on at “##”, elsewhere where letters or digits follow one another. Tokens without any spaces
    are words.
    """
    tokens = text.tokens
    if any(token.startswith(CONTINUES) for token in tokens):
        begins = [not token.startswith(CONTINUES) for token in tokens]
    elif any(token.startswith(" ") for token in tokens[1:]):
        ends = zip(("", *tokens[:-1]), tokens, strict=True)
        begins = [not (before[-1:].isalnum() and token[:1].isalnum()) for before, token in ends]
    else:
        begins = [True] * len(tokens)
    begins[0] = True
    starts = np.flatnonzero(begins)
    places = [*starts.tolist(), len(tokens)]
    words = ["".join(tokens[a:b]).replace(CONTINUES, "") for a, b in pairwise(places)]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    named = tuple(text.segments[start] for start in starts) if text.segments else ()
    return replace(_encoding(words, tuple(numbers[word] for word in words)), segments=named), starts


def _encoding(tokens: Sequence[str], ids: tuple[int, ...]) -> Encoding:
    if any(token.startswith(" ") for token in tokens):
        parts = list(tokens)
    else:
        parts = [
            token.removeprefix(CONTINUES) if token.startswith(CONTINUES) else f" {token}" if n else token
            for n, token in enumerate(tokens)
        ]
    ends = list(accumulate(map(len, parts)))
    spans = tuple((end - len(part), end) for part, end in zip(parts, ends, strict=True))
    return Encoding(text="".join(parts), ids=ids, tokens=tuple(tokens), offsets=spans)
