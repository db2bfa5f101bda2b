from __future__ import annotations

from pathlib import Path

import streamlit as st

from tfmviz.ui import url
from tfmviz.ui.figures import show_plain_view
from tfmviz.views.shared import VIEWS

KEYS = {
    "f": "projector mode on or off",
    "g": "hide the values until everyone has guessed",
    "c": "start or stop comparing with another sentence, model or head",
    "Ctrl K": "find a term, a page or a model",
    "n": "in a lecture: presenter's window with notes and a clock",
    "?": "this list",
    "[ and ]": "previous and next layer (explorer)",
    "p": "play through the layers (explorer)",
    "arrows": "move within the selected figure",
    "← and →": "previous and next step of a lecture, like Page Up and Page Down",
    "Enter": "select the item under the cursor",
    "Escape": "release the keyboard from a figure or text box",
}
"""The keys. Those for a picture work while it has the focus."""

HERE = Path(__file__).parent

STYLE, PROJECTED, WAITING = (
    f"<style>{''.join(path.read_text(encoding='utf-8') for path in paths)}</style>"
    for paths in ((HERE / "page.css", VIEWS / "shared" / "bar.css"), (HERE / "projected.css",), (HERE / "waiting.css",))
)
"""The layout of every page, its changes on a projector, and a page's look while it loads. The command `tfmviz` serves
pages that begin with the first and the last, see `document.py`: nothing moves when they come.
"""

_served = False


def served() -> str:
    """The style with which every served page begins; from now on, `style` relies on that."""
    global _served
    _served = True
    return STYLE + WAITING


def is_on() -> bool:
    """This session is on a projector. The address decides at first, and then shows it on every page."""
    on: bool = st.session_state.setdefault("projected", url.text("projector") == "1")
    url.put({"projector": "1" * on})
    return on


def style() -> None:
    st.html('<i class="hides"></i>' + STYLE * (not _served) + PROJECTED * is_on())


def buttons() -> None:
    label, icon = ("Leave projector mode", "close_fullscreen") if is_on() else ("Projector", "open_in_full")
    st.button("", icon=f":material/{icon}:", on_click=_switch, shortcut="f", key="project", help=f"{label} (key F)")
    show_plain_view("keys", data=[list(entry) for entry in KEYS.items()], width=32)


def _switch() -> None:
    st.session_state["projected"] = not st.session_state["projected"]
