"""The address beyond the widgets, which follow it by themselves (`inputs`); no other module reads or writes it.

A value counts if all of it has the form that is asked for, which also bounds its length. Any other value is treated as
missing: the default applies.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TypeVar

import streamlit as st

from tfmviz.constants import LONGEST_MASK, MOST_TYPED
from tfmviz.ui.router import goes_back

LONGEST = max(MOST_TYPED, LONGEST_MASK)

N = TypeVar("N", int, float)

ANY = re.compile(rf"(?s).{{0,{LONGEST}}}")


def text(key: str, form: str | re.Pattern[str] = ANY, default: str = "") -> str:
    return found[0] if (found := match(key, form)) else default


def match(key: str, form: str | re.Pattern[str]) -> re.Match[str] | None:
    return re.fullmatch(form, st.query_params[key]) if has(key) else None


def one_of(key: str, options: Collection[str], default: str) -> str:
    return asked if (asked := text(key)) in options else default


def number(key: str) -> int | None:
    """A whole number; None where the address holds none."""
    return int(found[0]) if (found := match(key, r"[0-9]{1,9}")) else None


def place(key: str, last: int, default: int) -> int:
    """One of the places from 0 to `last`, the nearest to the one in the address."""
    return default if (asked := number(key)) is None else min(asked, last)


def pair(key: str) -> tuple[int, int] | None:
    """Two whole numbers, such as "3.12"."""
    return (int(found[1]), int(found[2])) if (found := match(key, r"([0-9]{1,5})\.([0-9]{1,5})")) else None


def setting(key: str, low: N, high: N, start: N) -> N:
    """A number of the type of `start` from `low` to `high`, at first `start`."""
    with suppress(ValueError, OverflowError):
        if low <= (asked := type(start)(float(text(key, ".{1,20}")))) <= high:
            return asked
    return start


def has(*keys: str) -> bool:
    """The address has one of the keys."""
    return not set(keys).isdisjoint(st.query_params)


def everything() -> dict[str, str]:
    return st.query_params.to_dict()


def chosen(key: str) -> str | None:
    """The value in the session; at its start, and when the reader goes back, the one in the address."""
    value = st.query_params.get(key) if goes_back() else st.session_state.get(key, st.query_params.get(key))
    return None if value is None else str(value)


def put(parts: Mapping[str, str]) -> None:
    """Puts values into the address; an empty value removes its key."""
    for key, value in parts.items():
        if not value:
            st.query_params.pop(key, None)
        elif value != st.query_params.get(key):
            st.query_params[key] = value


def choose(parts: Mapping[str, str]) -> None:
    """The same, and widgets that follow in this run take the values: they read the address at its beginning."""
    put(parts)
    st.session_state.update(parts)


def keep_for(about: object, *keys: str) -> None:
    """Removes values that were chosen for something else, another text or model, than what is drawn now."""
    if st.session_state.setdefault(f"{keys[0]}_about", about) != about:
        put(dict.fromkeys(keys, ""))
    st.session_state[f"{keys[0]}_about"] = about
