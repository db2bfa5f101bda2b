"""The reader's text within sentences of ours, which Streamlit reads as Markdown with colours, icons and formulas."""

from __future__ import annotations

SIGNS = set("\\`*_{}[]()<>#+-.!|~$:&")
"""What means something in Markdown; a backslash before it makes it a letter like any other."""


def plain(text: str) -> str:
    """Text that Streamlit's Markdown shows as it stands."""
    return "".join(f"\\{character}" if character in SIGNS else character for character in text)


def code(text: str) -> str:
    """A short text in a code span, whatever it contains."""
    return f"`` {text.replace('`', 'ˋ')[:80]} ``"
