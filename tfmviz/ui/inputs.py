"""Widgets that take what an address says, whatever it says."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

LARGEST = 2**53
"""Whole numbers from here on are not all numbers of JavaScript."""


def asked_number(key: str) -> int | None:
    """A whole number that the address asks for; None where it holds none."""
    asked = st.query_params.get(key, "")
    return int(asked) if re.fullmatch(r"[0-9]{1,6}", asked) else None


def number_box(label: str, *, key: str, line: DeltaGenerator | None = None, **box: Any) -> Any:
    """A box for a number, which follows the address as `st.number_input` does, unless that says no finite number.

    Streamlit raises where a whole number is said to be `inf`. It reads the address of the session's start for a new
    widget, whatever has been deleted from it since, so the widget does not follow the address in that run, and the
    browser does not write its first change there; that is done here.

    Args:
        line: the container that it is drawn in, if not the current one.
    """
    bind: Literal["query-params"] | None = "query-params"
    with suppress(ValueError):  # what is no number at all, Streamlit drops itself
        if not abs(float(st.query_params.get(key, "0"))) < LARGEST:
            del st.query_params[key]
            bind = None
            box["on_change"] = lambda: st.query_params.update({key: str(st.session_state[key])})
    return (st if line is None else line).number_input(label, key=key, bind=bind, **box)


def stepper(label: str, count: int, start: int, *, key: str) -> int:
    """Asks for a layer or a head, 0 to `count` - 1; at first it is `start`. Of one there is nothing to ask."""
    if count == 1:
        return 0
    return int(number_box(label, key=key, min_value=0, max_value=count - 1, value=min(start, count - 1)))
