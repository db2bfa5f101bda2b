"""What stands between us and the `tokenizers` library, which reads other people's files in another language.

Where its code gives up ("panics"), Python gets an exception that is no `Exception`: it would pass every handler, end a
connection, and leave a page without an answer. And a small file can ask it for more memory than there is.
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
"""How many times as long as a text what its tokenizer makes of it may be; Albert's could make it 66 times as long."""

MOST_ADDED = 64
"""Marks that may be added to a text; no known tokenizer adds more than 4."""

TRIALS = tuple(unit * 2_500 + "!" for unit in ("aa", "AA", "11", "  ", "\n\n", "..", "éé", "中中", "a ", "a1"))
"""Texts of 5,000 characters, the most that a reader types. Up to its end each looks like one long match, on which an
expression that tries too many ways is found out."""


class Unreadable(ValueError):
    """A text that the rules of a tokenizer cannot cut. The message is a sentence for whoever typed it."""


@contextmanager
def without_panics() -> Iterator[None]:
    """What calls the library, as a block or as a whole function.

    Raises:
        Unreadable: the library has given up.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of pyo3, from which it cannot be imported
            raise
        raise Unreadable(
            f"The rules of this model's tokenizer break down here ({error}). Change the text, or choose another model."
        ) from None


def check(backend: tokenizers.Tokenizer) -> None:
    """Raises: ValueError, if a file could fill the memory with a short text, or gives up on a long one."""
    file = json.loads(backend.to_str())
    if file["normalizer"] in _our_spellings():  # many expressions that are known to be harmless
        file["normalizer"] = None
    for rules in ("normalizer", "decoder"):
        if (growth := _growth(file[rules])) > MOST_GROWTH:
            raise ValueError(f"the {rules} of its tokenizer can make a text {growth:.0e} times as long.")
    if (added := backend.num_special_tokens_to_add(is_pair=False)) > MOST_ADDED:
        raise ValueError(f"its tokenizer adds {added:,} marks to every text; {MOST_ADDED} are allowed.")
    if '"Regex"' in json.dumps([file["normalizer"], file["pre_tokenizer"], file["decoder"]]):
        _try_out(backend)


def reading_marks(backend: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """A copy that takes what is spelled like a mark for the mark."""
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
    """The rules of `text.spelling`, as files hold them."""
    backend, found = tokenizers.Tokenizer(BPE()), []
    for backend.normalizer in (one_spelling(), one_spelling_and_case()):
        found.append(json.loads(backend.to_str())["normalizer"])
    return found


def _growth(rules: dict[str, Any] | None) -> float:
    """How many times as long as a text its rewriting can be at most, as far as the file decides it.

    Rules that are the library's own, such as Unicode's normal forms, count as 1: a second one of them adds nothing.
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
            first = 4 + int.from_bytes(
                table[:4], "little"
            )  # a trie, then its replacements, each with a zero at its end
            return max(1.0, *map(len, table[first:].split(b"\0")))
    return 1.0
