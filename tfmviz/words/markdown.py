"""The reader's text within sentences of ours, which Streamlit reads as Markdown with colours, icons and formulas."""

from __future__ import annotations

import re

SIGNS = set("\\`*_{}[]()<>#+-.!|~$:&")
"""What means something in Markdown; a backslash before it makes it a letter like any other."""


def plain(text: str) -> str:
    """Text that Streamlit's Markdown shows as it stands, in one line: a blank one would end a paragraph of ours."""
    return "".join(f"\\{character}" if character in SIGNS else character for character in _in_one_line(text))


def code(text: str) -> str:
    """A short text in a code span, whatever it contains: a blank line would end it."""
    return f"`` {_in_one_line(text).replace('`', 'ˋ')[:80]} ``"


def first_sentence(text: str) -> tuple[str, str]:
    """Our text's first sentence and the others: it ends at a full stop that is neither a reader's, escaped by `plain`,
    nor within bold letters or code.
    """
    outside = re.sub(r"(`+).*?\1", lambda code: "_" * len(code[0]), text)
    for stop in re.finditer(r"(?<!\\)\.(?:\*\*)? (?=[^a-z\d])", outside):
        if outside.count("**", 0, stop.end()) % 2 == 0:
            return text[: stop.end() - 1], text[stop.end() :]
    return text, ""


def _in_one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text)
