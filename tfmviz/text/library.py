"""Guards around the `tokenizers` library, which reads other people's files.

A panic of its Rust code is no `Exception` and would pass every handler; and a small file can make it allocate more
memory than there is.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import tokenizers
from tokenizers.models import BPE

from tfmviz.text.spelling import one_spelling, one_spelling_and_case

MOST_GROWTH = 256
"""Maximum factor by which a tokenizer's rules may lengthen a text."""

MOST_ADDED = 64
"""Maximum special tokens added to a text; no known tokenizer adds more than 4."""

TRIALS = tuple(unit * 2_500 + "!" for unit in ("aa", "AA", "11", "  ", "\n\n", "..", "éé", "中中", "a ", "a1"))
"""Texts of 5,000 characters, each almost one long match, which reveals regular expressions that backtrack too much."""


class Unreadable(ValueError):
    """A text on which a tokenizer's rules fail; the message is for whoever typed it."""


@contextmanager
def without_panics() -> Iterator[None]:
    """Wraps calls of the library, as a block or as a decorator.

    Raises:
        Unreadable: the library has panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3 does not export it
            raise
        raise Unreadable(
            f"The rules of this model's tokenizer break down here ({error}). Change the text, or choose another model."
        ) from None


def check(backend: tokenizers.Tokenizer) -> None:
    """Raises ValueError if a file could fill the memory with a short text, or fails on a long one."""
    file = json.loads(backend.to_str())
    if file["normalizer"] in _our_spellings():  # regular expressions known to be harmless
        file["normalizer"] = None
    for rules in ("normalizer", "decoder"):
        if (growth := _growth(file[rules])) > MOST_GROWTH:
            raise ValueError(f"the {rules} of its tokenizer can make a text {growth:.0e} times as long.")
    if (added := backend.num_special_tokens_to_add(is_pair=False)) > MOST_ADDED:
        raise ValueError(f"its tokenizer adds {added:,} marks to every text; {MOST_ADDED} are allowed.")
    if '"Regex"' in json.dumps([file["normalizer"], file["pre_tokenizer"], file["decoder"]]):
        _try_out(backend)


def reading_marks(backend: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """A copy that reads spelled special tokens as such."""
    copy = tokenizers.Tokenizer.from_str(backend.to_str())
    copy.encode_special_tokens = False
    return copy


def _try_out(backend: tokenizers.Tokenizer) -> None:
    for text in TRIALS:
        try:
            with without_panics():
                backend.decode(backend.encode(text, add_special_tokens=False).ids)
        except Unreadable as error:
            raise ValueError(
                f"the rules of its tokenizer break down on long texts, such as {len(text):,} characters that begin "
                f"with {text[:6]!r}: one of them would have to try too many ways to cut them."
            ) from error


@lru_cache(maxsize=1)
def _our_spellings() -> list[dict[str, Any]]:
    backend, found = tokenizers.Tokenizer(BPE()), []
    for backend.normalizer in (one_spelling(), one_spelling_and_case()):
        found.append(json.loads(backend.to_str())["normalizer"])
    return found


def _growth(rules: dict[str, Any] | None) -> float:
    """An upper bound on how many times longer these rules can make a text.

    The library's own rules, such as Unicode's normal forms, count as 1.
    """
    match rules:
        case {"type": "Sequence", "normalizers": steps} | {"type": "Sequence", "decoders": steps}:
            return math.prod([_growth(step) for step in steps])
        case {"type": "Replace", "pattern": {"String": str(found)}, "content": content} if found:
            return max(1.0, len(content) / len(found))
        case {"type": "Replace", "content": content}:  # an expression may match nothing, between any two characters
            return 1.0 + len(content)
        case {"type": "Prepend", "prepend": prepended}:
            return 1.0 + len(prepended)
        case {"type": "Precompiled", "precompiled_charsmap": str(packed)}:
            table = base64.b64decode(packed)
            first = 4 + int.from_bytes(table[:4], "little")  # a trie, then zero-terminated replacements
            return max(1.0, *map(len, table[first:].split(b"\0")))
    return 1.0
