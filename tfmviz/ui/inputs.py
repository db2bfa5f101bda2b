"""The controls of a figure, which a comparison draws once: Streamlit's, with its arguments, and in addition

    line: the container that it is drawn in, if not the current one.
    bind: "query-params", unless the choice is not kept in the address.

A control gives a value that fits, whatever is in the address, and on side B the value chosen on A (`side`): the
nearest number, or B's first option where B lacks A's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeVar, overload

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.ui import side, url

LARGEST = 2**53
"""JavaScript represents all whole numbers below this exactly."""

Bind = Literal["query-params"] | None
Line = DeltaGenerator | None
N = TypeVar("N", int, float)
T = TypeVar("T")


def at_most(key: str, largest: float) -> None:
    """Call before a control whose end depends on other choices: Streamlit would pass on a value beyond its end."""
    if st.session_state.get(key, 0) > largest:
        st.session_state[key] = largest


def _ask(kind: str, fitting: Callable[[Any], Any], *given: object, key: str, line: Line = None, **look: Any) -> Any:
    """The value of a control of Streamlit's."""
    look = {"bind": "query-params", **look}
    return fitting(side.once(key, lambda: getattr(line or st, kind)(*given, key=key, **look), fitting))


def slider(label: str, low: N, high: N, start: N, step: N | None = None, *, key: str, **look: Any) -> N:
    if isinstance(high, int) and not side.is_b():
        at_most(key, high)
    value: N = _ask("slider", lambda n: min(max(n, low), high), label, low, high, start, step, key=key, **look)
    return value


def select_slider(label: str, options: Sequence[T], start: T, *, key: str, **look: Any) -> T:
    value: T = _ask("select_slider", _one_of(options, start), label, options, start, key=key, **look)
    return value


def segmented_control(label: str, options: Sequence[T], *, default: T | None = None, key: str, **look: Any) -> T:
    """Without a choice, `default`, or else the first option."""
    first = options[0] if default is None else default
    value: T = _ask("segmented_control", _one_of(options, first), label, options, default=first, key=key, **look)
    return value


def radio(label: str, options: Sequence[T], *, key: str, **look: Any) -> T:
    value: T = _ask("radio", _one_of(options, options[0]), label, options, key=key, **look)
    return value


@overload
def selectbox(label: str, options: Sequence[T], index: int = 0, *, key: str, **look: Any) -> T: ...
@overload
def selectbox(label: str, options: Sequence[T], index: None, *, key: str, **look: Any) -> T | None: ...
def selectbox(label: str, options: Sequence[T], index: int | None = 0, *, key: str, **look: Any) -> T | None:
    first = (
        None if index is None else options[index]
    )  # also for a label of the previous list, which Streamlit passes on
    value: T | None = _ask("selectbox", _one_of(options, first), label, options, index, key=key, **look)
    return value


def multiselect(label: str, options: Sequence[T], default: Sequence[T] = (), *, key: str, **look: Any) -> list[T]:
    def fitting(chosen: Sequence[T]) -> list[T]:
        return [option for option in chosen if option in options]

    return list(_ask("multiselect", fitting, label, options, default, key=key, **look))


def pills(label: str, options: Sequence[T], *, key: str, **look: Any) -> Any:
    return _ask("pills", lambda chosen: chosen, label, options, key=key, **look)


def toggle(label: str, value: bool = False, *, key: str, **look: Any) -> bool:
    return bool(_ask("toggle", bool, label, value, key=key, **look))


def text_input(label: str, value: str = "", *, key: str, max_chars: int, **look: Any) -> str:
    return str(_ask("text_input", str, label, value, key=key, max_chars=max_chars, **look))


def text_area(label: str, value: str = "", *, key: str, max_chars: int, **look: Any) -> str:
    return str(_ask("text_area", str, label, value, key=key, max_chars=max_chars, **look))


def button(label: str, *, on_click: Callable[..., None], line: Line = None, **look: Any) -> None:
    """Drawn on A only."""
    if not side.is_b():
        (line or st).button(label, on_click=on_click, **look)


def download_button(label: str, data: Callable[[], str | bytes], name: str, kind: str, **look: Any) -> None:
    """A file, made on demand; B has none. `kind`: its media type."""
    if not side.is_b():
        st.download_button(label, data, name, kind, on_click="ignore", **look)


def _one_of(options: Sequence[T], first: T | None) -> Callable[[T], T | None]:
    return lambda value: value if value in options else first


def number_box(label: str, *, key: str, line: Line = None, **box: Any) -> Any:
    """A box for a number, which follows the address as `st.number_input` does, unless that holds no finite number.

    Streamlit raises for a whole number `inf`. It reads the address of the session's start for a new widget, whatever
    has been deleted from it since, so in that run the widget does not follow the address, and the browser's first
    change is written here instead.
    """

    def draw() -> Any:
        bind: Bind = "query-params"
        with suppress(ValueError):  # Streamlit itself drops text that is not a number
            if not abs(float(url.text(key, "(?s).*", "0"))) < LARGEST:
                url.put({key: ""})
                bind = None
                box["on_change"] = lambda: url.put({key: str(st.session_state[key])})
        return (line or st).number_input(label, key=key, bind=bind, **box)

    low, high = box.get("min_value"), box.get("max_value")
    return side.once(key, draw, lambda n: n if low is None or high is None else min(max(n, low), high))


def stepper(label: str, count: int, start: int, *, key: str) -> int:
    """Draws the choice of one of `count` layers or heads; nothing where there is only one."""
    if count == 1:
        return 0
    return int(number_box(label, key=key, min_value=0, max_value=count - 1, value=min(start, count - 1)))
