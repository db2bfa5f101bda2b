"""Tokens as labels: every character visible, nothing read as markup."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from tfmviz.constants import LABEL_LENGTH, VISIBLE
from tfmviz.record.trace import Trace

START, END = "<START>", "<END>"
"""The tokens that begin and end a decoder's text."""

UNKNOWN = "…"
"""The next token of a text that was cut off."""


def visible(token: str) -> str:
    """`whole`, but a long token is shortened in the middle."""
    shown = whole(token)
    return shown if len(shown) <= LABEL_LENGTH else f"{shown[: LABEL_LENGTH - 5]}…{shown[-4:]}"


@lru_cache(4096)  # a page asks for each token's label a hundred times
def whole(token: str) -> str:
    """The whole token without its first space, other white space and control characters made visible."""
    word = token if token.isspace() else token.removeprefix(" ")
    left, right = len(word) - len(word.lstrip(" ")), len(word) - len(word.rstrip(" "))
    inner = word.strip(" ")
    if all(unicodedata.category(character) == "Mn" for character in inner):  # accents without a base
        shown = "".join(f"[{ord(character):04X}]" for character in inner)
    else:
        shown = "".join(_visible_character(character) for character in inner)
    return "␣" * left + shown + ("␣" * right if inner else "")


def quoted(tokens: Sequence[str], *, of: str = "token", first: int = 0) -> list[str]:
    """Names of tokens in sentences: “bird”, but “the” (token 3) if another one looks the same.

    Args:
        of: the noun before the index.
        first: the first index.
    """
    labels = [visible(token) for token in tokens]
    often = Counter(labels)
    return [f"“{label}”" + f" ({of} {n})" * (often[label] > 1) for n, label in enumerate(labels, first)]


def of_queries(trace: Trace, layer: str) -> list[str]:
    """Labels of the rows of a layer's pattern.

    In cross-attention a row names both words: in “a → student” the decoder has read "a" and is about to write
    "student", which it looks for in the source.
    """
    labels = _labels(trace, layer)
    return [f"{read} → {writes}" for read, writes in _both(trace, labels)] if _crosses(layer) else labels


def said_of_queries(trace: Trace, layer: str) -> list[str]:
    """The same in a sentence: “a”, about to write “student”; “a” as `quoted` names it."""
    labels = _labels(trace, layer)
    names = quoted(labels)
    if not _crosses(layer):
        return names
    return [f"{read}, about to write “{writes}”" for read, (_, writes) in zip(names, _both(trace, labels), strict=True)]


def _labels(trace: Trace, layer: str) -> list[str]:
    labels = [visible(token) for token in trace.axes(layer)[0].tokens]
    return [START, *labels[1:]] if trace.source is not None and layer.startswith("decoder.") else labels


def _crosses(layer: str) -> bool:
    return layer.endswith(".cross_attn")


def _both(trace: Trace, labels: list[str]) -> list[tuple[str, str]]:
    """For every row the last token read, and the next one."""
    ends = "logits" in trace and int(trace.row("logits", -1).argmax()) == trace.target.ids[0]
    return list(zip(labels, [*labels[1:], END if ends else UNKNOWN], strict=True))


def _visible_character(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    if unicodedata.category(character) == "Cc":
        return f"[{ord(character):02X}]"
    if unicodedata.category(character) in ("Cf", "Zs", "Zl", "Zp"):  # joiners, direction marks, odd spaces
        return f"[{ord(character):04X}]"
    return character
