"""Undo for typed edits: every typed text comes back with the tree written after it.

The address holds a text, and its tree with the short name of the text that the tree belongs to: when a new text is
typed, the browser keeps an address with the old tree, so its back button works as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import streamlit as st

from tfmviz.ui import url

MOST_TEXTS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Edits:
    """The texts typed for one model, in their order, and the one that is shown."""

    texts: tuple[str, ...] = ()
    at: int = -1

    def shows(self, text: str) -> Edits:
        """The same after a step back or on, or else with a new text after the one that was shown."""
        for at in (self.at, self.at - 1, self.at + 1):
            if 0 <= at < len(self.texts) and self.texts[at] == text:
                return replace(self, at=at)
        kept = (*self.texts[: self.at + 1], text)[-MOST_TEXTS:]
        return Edits(texts=kept, at=len(kept) - 1)

    def by(self, step: int) -> str | None:
        """The text so many steps on (1) or back (-1); None: there is none."""
        return self.texts[self.at + step] if 0 <= self.at + step < len(self.texts) else None


@dataclass(kw_only=True, slots=True)
class Memory:
    """A session's memory.

    Attributes:
        about: the short name of model and text that were shown last.
        edits: the texts typed for each model.
        paths: the last tree of each text, as in the address, by the short name of model and text.
    """

    about: str = ""
    edits: dict[str, Edits] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)


def memory() -> Memory:
    return st.session_state.setdefault("writing_memory", Memory())


def follow(about: str, *, model: str, text: str) -> str:
    """The tree to show after a text: the one in the address, unless that is another text's.

    Args:
        about: the short name of model and text.
    """
    known, (path, of) = memory(), in_address()
    known.edits[model] = known.edits.get(model, Edits()).shows(text)
    before, known.about = known.about, about
    is_others = of not in ("", about) or (before not in ("", about) and not of)
    code = known.paths.get(about, "") if is_others else path
    known.paths[about] = code
    if before != about and (path, of) != (code, about if code else ""):
        put(about, code)  # not again when the reader comes back: that would be a step forward in the browser
    return code


def in_address() -> tuple[str, str]:
    """The tree in the address, and the short name of the text that it belongs to; "" where there is none."""
    path, _, of = url.text("path").partition("_")
    return path, of


def put(about: str, path: str, word: int | None = None) -> None:
    """Puts a text's tree and the position looked at into the address, and remembers the tree."""
    memory().paths[about] = path
    url.put({"path": f"{path}_{about}" if path else "", "word": "" if word is None else str(word)})
