"""Every answer of a page that a reader can ask for with one setting: the worst texts, numbers at their ends, choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app import open_page
from tests.hostile.texts import WORST

FAR = 10**15
"""Where a number box has no end of its own."""

NUMBERS = ("slider", "select_slider", "number_input")
CHOICES = ("button_group", "selectbox", "radio", "checkbox", "toggle", "multiselect")
TEXTS = ("text_area", "text_input")

Asked = tuple[str, Callable[[], AppTest]]
"""What is set, and the run that answers it."""


def long_texts(page: str, tab: dict[str, str], **address: str) -> Iterator[Asked]:
    """The worst texts, one after the other in the sentence box of a page that has been open on a short one."""
    app = open_page(page, text="The cat sat.", **tab, **address)
    for name, text in WORST.items() if app.get("text_area") else ():
        yield name, app.text_area(key="text").set_value(text).run


def settings(page: str, tab: dict[str, str], text: str) -> Iterator[Asked]:
    """Every number at its ends, every choice and every box for a text, one at a time."""
    for kind in (*NUMBERS, *CHOICES, *TEXTS):
        for key, values in _values(open_page(page, text=text, **tab), kind).items():
            for value in values:
                app = open_page(page, text=text, **tab)
                if widget := next((one for one in app.main.get(kind) if one.key == key), None):
                    yield f"{key}={str(value)[:20]}", widget.set_value(value).run


def _values(app: AppTest, kind: str) -> dict[str, list[Any]]:
    """The values to try by the keys of the widgets of a kind."""
    return {one.key: list(_of_one(one, kind)) for one in app.main.get(kind) if one.key not in (None, "text", "example")}


def _of_one(widget: Any, kind: str) -> Iterator[Any]:
    match kind:
        case "slider":
            yield from (widget.min, widget.max)
        case "select_slider":
            yield from (widget.options[0], widget.options[-1])
        case "number_input":
            yield from (-FAR if widget.min is None else widget.min, FAR if widget.max is None else widget.max)
        case "checkbox" | "toggle":
            yield not widget.value
        case "button_group" | "selectbox" | "radio":
            yield from ()
        case "text_area" | "text_input":
            for worst in WORST.values():
                yield worst[: widget.proto.max_chars or None]
