"""The pages of the app, and a navigation that also works when a page is opened directly.

With a `pages/` folder and a cold server, Streamlit runs `pages/x.py` for the address `/x` without `app.py`, so without
menu and page settings. `app.py` therefore runs its page inside `routed()`, and every page begins with
`ensure_routed()`, which passes a page that was started alone to the router.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from tfmviz.paths import PROJECT

_here = threading.local()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the menu.

    Attributes:
        name: of its file in `pages/`, and its address; that of the `DEFAULT` page is `/`.
        answers: its question, in one line.
    """

    group: str
    name: str
    title: str
    answers: str

    @property
    def file(self) -> Path:
        return PROJECT / "pages" / f"{self.name}.py"


PAGES = (
    Page("", "home", "tfmviz", "Where to begin?"),
    Page("Before attention", "tokens", "Tokens", "How is a text split into tokens?"),
    Page("Before attention", "counting", "Counting words", "How far does counting words get?"),
    Page("Before attention", "ladder", "From windows to attention", "How far back can each model see?"),
    Page("Before attention", "bottleneck", "The bottleneck", "What changes when a decoder may look back?"),
    Page("Attention", "explorer", "Explorer", "Where does every head of every layer look?"),
    Page("Attention", "whole_model", "The whole model", "What happens to a sentence, end to end?"),
    Page("Attention", "step_by_step", "Step by step", "How does one head compute its numbers?"),
    Page("Attention", "why", "Why there", "Why does a head look where it looks?"),
    Page("Attention", "feed_forward", "Feed-forward", "What happens to each token alone?"),
    Page("Attention", "masks", "Masks", "Which tokens may attend to which, and what if that changes?"),
    Page("Position", "positions", "Positions", "Why must attention be told the order of words?"),
    Page("Position", "positions_rope", "RoPE and biases", "How can attention see distances directly?"),
    Page("Position", "positions_compare", "Sinusoidal or RoPE?", "How do the position schemes differ?"),
    Page("Inside", "residual_stream", "Residual stream", "How is a prediction built, layer by layer?"),
    Page("Inside", "switch_off", "Switch it off", "Which parts does the model need?"),
    Page("Inside", "normalisation", "Normalisation", "Over which numbers does a norm average?"),
    Page("Writing", "writing", "Writing", "How is each word chosen, and from what?"),
    Page("Writing", "translating", "Translating", "Where does each translated word come from?"),
    Page("Learning", "recipe", "The recipe", "What is a model asked in training, and what helps?"),
    Page("Learning", "training", "Training", "How does a model get its weights?"),
    Page("Cost", "complexity", "Complexity", "What does a layer cost, on paper and here?"),
    Page("Cost", "efficient", "Efficient attention", "How can attention be made cheaper, and at what cost?"),
    Page("Cost", "size", "Size", "How many parameters, how much memory, how long?"),
    Page("", "lectures", "Lectures", "Which pages go with which lecture?"),
    Page("", "contents", "All pages", "What each page shows, on one page."),
)
"""The menu, in the order of a lecture. To add a page: its file in `pages/`, its folder in `ui/`, its line here."""


DEFAULT = "home"


def address(page: str, choices: Mapping[str, str] | None = None) -> str:
    """An address relative to any page. `choices`: text, model, layer, an open tab …"""
    return f"./{'' if page == DEFAULT else page}{'?' if choices else ''}{urlencode(choices or {})}"


def navigation() -> StreamlitPage:
    """The page of this run."""
    groups: dict[str, list[StreamlitPage]] = {}
    for page, made in zip(PAGES, _made(), strict=True):
        groups.setdefault(page.group, []).append(copy(made))  # Streamlit marks the one that runs
    return st.navigation(groups, position="hidden")  # the menu is `views/frame`


def is_unknown() -> bool:
    """The requested page does not exist; this run is for the first page."""
    run = get_script_run_ctx()
    asked = run.pages_manager.intended_page_name if run else None
    return asked is not None and asked not in ("", *(page.name for page in PAGES))


@cache
def _made() -> tuple[StreamlitPage, ...]:
    """Cached: making an entry checks the disk for its file, a tenth of a link's response time."""
    # No icon: it would be the browser tab's too, and Streamlit would fetch that from outside.
    return tuple(st.Page(page.file, title=page.title, default=page.name == DEFAULT) for page in PAGES)


def path(shown: StreamlitPage) -> None:
    """Links to the neighbours in the course; none on a page outside it."""
    course = [page for page in PAGES if page.group]
    at = next((n for n, page in enumerate(course) if page.name == shown.url_path), None)
    if at is None:
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", key="path"):
        for label, n in (("← {}", at - 1), ("{} →", at + 1)):
            if 0 <= n < len(course):
                st.page_link(course[n].file, label=label.format(course[n].title))


@contextmanager
def routed() -> Iterator[None]:
    """Marks that `app.py` is in charge of this run."""
    _here.routed = True
    try:
        yield
    finally:
        _here.routed = False


def ensure_routed() -> None:
    """Every page calls this first."""
    if not getattr(_here, "routed", False):
        navigation()
        st.rerun()


def of_all_pages() -> AbstractContextManager[None]:
    """Widgets drawn within belong to the app, as if `app.py` drew them, and keep their state from page to page.

    Streamlit takes a page's widgets out of the address when the reader leaves it, even from the address to which the
    browser's back button returns. The sentence and the model would be lost there.
    """
    run = get_script_run_ctx()
    assert run is not None
    return run.run_with_active_hash(run.pages_manager.main_script_hash)


def of_this_page() -> AbstractContextManager[None]:
    """Widgets drawn within, inside `of_all_pages`, belong to the page again."""
    run = get_script_run_ctx()
    assert run is not None
    return run.run_with_active_hash(run.page_script_hash)


def goes_back() -> bool:
    """This run answers the browser's back or forward button: then the address decides, not the session."""
    run = get_script_run_ctx()
    return run is not None and run.is_history_navigation
