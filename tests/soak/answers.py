"""The answers that one setting of a page gives: the worst texts, numbers at their ends, switches turned."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app import open_page
from tests.hostile.texts import WORST
from tests.pages.tabs import Address

FAR = 10**15
"""Where a number box has no end of its own."""

KINDS = ("slider", "select_slider", "number_input", "checkbox", "toggle", "text_area", "text_input")

Asked = tuple[str, Callable[[], AppTest]]
"""What is set, and the run that answers it."""


def long_texts(page: str, tab: Address) -> Iterator[Asked]:
    """The worst texts, one after the other in the sentence box of a page that was opened with a short one."""
    app = open_page(page, text="The cat sat.", **tab)
    for name, text in WORST.items() if app.get("text_area") else ():
        yield name, app.text_area(key="text").set_value(text).run


def settings(page: str, tab: Address, text: str) -> Iterator[Asked]:
    """Every number at its ends, every switch, the worst texts in every other box: one at a time, others as they are.

    What was set is put back in the run that sets the next one, and in a run of its own only if it has hidden something.
    """
    app = open_page(page, text=text, **tab)
    boxes = _boxes(app)
    for kind, key in boxes:
        if (widget := _there(app, kind, key)) is None:
            continue  # another setting has hidden it
        usual = widget.value
        for value in _values(widget, kind):
            if widget := _there(app, kind, key):
                yield f"{key} = {str(value)[:20]}", widget.set_value(value).run
        if widget := _there(app, kind, key):
            widget.set_value(usual)
            if _boxes(app) != boxes:
                app.run()


def _boxes(app: AppTest) -> list[tuple[str, str]]:
    """All that can be set, but for the sentence: kind and key."""
    return [(kind, one.key) for kind in KINDS for one in app.main.get(kind) if one.key not in (None, "text")]


def _there(app: AppTest, kind: str, key: str) -> Any:
    return next((one for one in app.main.get(kind) if one.key == key), None)


def _values(widget: Any, kind: str) -> list[Any]:
    """The values to try."""
    match kind:
        case "slider":
            return [widget.min, widget.max]
        case "select_slider":
            return [made for end in (0, -1) if (made := _option(widget, widget.options[end])) is not None]
        case "number_input":
            return [-FAR if widget.min is None else widget.min, FAR if widget.max is None else widget.max]
        case "checkbox" | "toggle":
            return [not widget.value]
    return [worst[: widget.proto.max_chars or None] for worst in WORST.values()]


def _option(widget: Any, shown: str) -> Any:
    """The option that is shown so: a test is told only its text. None if that does not tell."""
    plain = shown.replace(",", "")
    for made in (shown, *([int(plain)] if plain.isdigit() else [])):
        with suppress(ValueError, TypeError):
            if widget.format_func(made) == shown:
                return made
    return None
