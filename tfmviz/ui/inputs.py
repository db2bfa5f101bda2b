"""The controls of a figure, which a comparison draws once: Streamlit's, with its arguments, and in addition

    line: the container that it is drawn in, if not the current one.
    bind: "query-params", unless the choice is not kept in the address.

A control gives a value that fits, whatever is in the address, and on side B the value chosen on A (`side`): the
nearest number, or B's first option where B lacks A's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeVar, overload

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.ui import side

LARGEST = 2**53
"""JavaScript represents all whole numbers below this exactly."""

Bind = Literal["query-params"] | None
N = TypeVar("N", int, float)
T = TypeVar("T")


def slider(
    label: str,
    low: N,
    high: N,
    start: N,
    step: N | None = None,
    *,
    key: str,
    line: DeltaGenerator | None = None,
    **look: Any,
) -> N:
    def draw() -> Any:
        if isinstance(high, int) and st.session_state.get(key, 0) > high:  # Streamlit would pass it on
            st.session_state[key] = high
        return (line or st).slider(label, low, high, start, step, key=key, bind="query-params", **look)

    return side.once(key, draw, lambda value: min(max(value, low), high))


def select_slider(
    label: str,
    options: Sequence[T],
    start: T,
    *,
    key: str,
    line: DeltaGenerator | None = None,
    bind: Bind = "query-params",
    **look: Any,
) -> T:
    def draw() -> Any:
        return (line or st).select_slider(label, options, start, key=key, bind=bind, **look)

    return side.once(key, draw, _one_of(options, start))


def segmented_control(
    label: str,
    options: Sequence[T],
    *,
    default: T | None = None,
    key: str,
    line: DeltaGenerator | None = None,
    **look: Any,
) -> T:
    """The choice; without one, `default`, or else the first option."""
    first = options[0] if default is None else default

    def draw() -> Any:
        chosen = (line or st).segmented_control(label, options, default=first, key=key, bind="query-params", **look)
        return first if chosen is None else chosen

    return side.once(key, draw, _one_of(options, first))


def radio(label: str, options: Sequence[T], *, key: str, line: DeltaGenerator | None = None, **look: Any) -> T:
    def draw() -> Any:
        return (line or st).radio(label, options, key=key, bind="query-params", **look)

    return side.once(key, draw, _one_of(options, options[0]))


@overload
def selectbox(label: str, options: Sequence[T], index: int = 0, *, key: str, **look: Any) -> T: ...
@overload
def selectbox(label: str, options: Sequence[T], index: None, *, key: str, **look: Any) -> T | None: ...
def selectbox(
    label: str,
    options: Sequence[T],
    index: int | None = 0,
    *,
    key: str,
    line: DeltaGenerator | None = None,
    bind: Bind = "query-params",
    **look: Any,
) -> T | None:
    first = None if index is None else options[index]

    def draw() -> Any:  # Streamlit passes on a label of the previous list
        return _one_of(options, first)((line or st).selectbox(label, options, index, key=key, bind=bind, **look))

    return side.once(key, draw, _one_of(options, first))


def multiselect(
    label: str,
    options: Sequence[T],
    default: Sequence[T] = (),
    *,
    key: str,
    line: DeltaGenerator | None = None,
    **look: Any,
) -> list[T]:
    def draw() -> Any:
        return (line or st).multiselect(label, options, default, key=key, bind="query-params", **look)

    return side.once(key, draw, lambda chosen: [option for option in chosen if option in options])


def pills(
    label: str,
    options: Sequence[T],
    *,
    key: str,
    line: DeltaGenerator | None = None,
    bind: Bind = "query-params",
    **look: Any,
) -> Any:
    def draw() -> Any:
        return (line or st).pills(label, options, key=key, bind=bind, **look)

    return side.once(key, draw, lambda chosen: chosen)


def toggle(label: str, value: bool = False, *, key: str, line: DeltaGenerator | None = None, **look: Any) -> bool:
    def draw() -> Any:
        return (line or st).toggle(label, value, key=key, bind="query-params", **look)

    return bool(side.once(key, draw, bool))


def text_input(label: str, value: str = "", *, key: str, line: DeltaGenerator | None = None, **look: Any) -> str:
    def draw() -> Any:
        return (line or st).text_input(label, value, key=key, bind="query-params", **look)

    return str(side.once(key, draw, str))


def text_area(
    label: str,
    value: str = "",
    *,
    key: str,
    line: DeltaGenerator | None = None,
    bind: Bind = "query-params",
    **look: Any,
) -> str:
    def draw() -> Any:
        return (line or st).text_area(label, value, key=key, bind=bind, **look)

    return str(side.once(key, draw, str))


def button(label: str, *, line: DeltaGenerator | None = None, **look: Any) -> bool:
    """Drawn on A only; never pressed on B."""
    return not side.is_b() and (line or st).button(label, **look)


def download_button(label: str, data: Callable[[], str | bytes], name: str, kind: str, **look: Any) -> None:
    """A file, made on demand; B has none. `kind`: its media type."""
    if not side.is_b():
        st.download_button(label, data, name, kind, on_click="ignore", **look)


def _one_of(options: Sequence[T], first: T | None) -> Callable[[T], T | None]:
    return lambda value: value if value in options else first


def requested_number(key: str) -> int | None:
    """A whole number in the address; None where it holds none."""
    asked = st.query_params.get(key, "")
    return int(asked) if re.fullmatch(r"[0-9]{1,6}", asked) else None


def number_box(label: str, *, key: str, line: DeltaGenerator | None = None, **box: Any) -> Any:
    """A box that follows the address as `st.number_input` does, unless that holds no finite number.

    Streamlit raises for a whole number `inf`, and reads the address of the session's start for a new widget, whatever
    has been deleted from it since. So in that run the widget does not follow the address, and the browser's first
    change is written here instead.
    """

    def draw() -> Any:
        bind: Bind = "query-params"
        with suppress(ValueError):  # Streamlit itself drops text that is not a number
            if not abs(float(st.query_params.get(key, "0"))) < LARGEST:
                del st.query_params[key]
                bind = None
                box["on_change"] = lambda: st.query_params.update({key: str(st.session_state[key])})
        return (line or st).number_input(label, key=key, bind=bind, **box)

    low, high = box.get("min_value"), box.get("max_value")
    return side.once(key, draw, lambda n: n if low is None or high is None else min(max(n, low), high))


def stepper(label: str, count: int, start: int, *, key: str) -> int:
    """Draws the choice of one of `count` layers or heads; nothing where there is only one."""
    if count == 1:
        return 0
    return int(number_box(label, key=key, min_value=0, max_value=count - 1, value=min(start, count - 1)))
