"""Readers' text within our sentences, which Streamlit reads as Markdown with colours, icons and formulas."""

from __future__ import annotations

import re

SIGNS = set("\\`*_{}[]()<>#+-.!|~$:&")
"""Characters with a meaning in Markdown; a backslash before one makes it plain."""


def plain(text: str) -> str:
    """Text shown literally by Streamlit's Markdown, in one line."""
    return "".join(f"\\{character}" if character in SIGNS else character for character in _in_one_line(text))


def code(text: str) -> str:
    """A code span, whatever it contains."""
    return f"`` {_in_one_line(text).replace('`', 'ˋ')[:80]} ``"


def first_sentence(text: str) -> tuple[str, str]:
    """The first sentence of our text, and the rest. A full stop escaped by `plain`, in bold text or in code does not
    end it.
    """
    outside = re.sub(r"(`+).*?\1", lambda code: "_" * len(code[0]), text)
    for stop in re.finditer(r"(?<!\\)\.(?:\*\*)? (?=[^a-z\d])", outside):
        if outside.count("**", 0, stop.end()) % 2 == 0:
            return text[: stop.end() - 1], text[stop.end() :]
    return text, ""


def _in_one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text)
