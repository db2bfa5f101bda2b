"""What the address holds counts only in the form that is asked for."""

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from tfmviz.ui import url


def test_a_value_of_another_form_is_as_if_it_were_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    far = "1" * 10**6
    asks: dict[Callable[[], Any], tuple[dict[str, Any], tuple[str, ...]]] = {
        lambda: url.number("x"): ({"0": 0, "041": 41}, ("-1", "1234567890", "7.6", "1e2", "\u0663", "3\n", "")),
        lambda: url.place("x", 7, 3): ({"0": 0, "7": 7, "99999": 7}, ("-1", "7.6", "x", "")),
        lambda: url.setting("x", 0.1, 2.0, 0.8): ({"0.1": 0.1, "2": 2.0}, ("0", "2.1", "nan", "inf", "1,5", "")),
        lambda: url.setting("x", 0, 100, 40): ({"0": 0, "7.6": 7}, ("-1", "101", "nan", "1e400", "x", "")),
        lambda: url.pair("x"): ({"0.12": (0, 12)}, ("1", "1.2.3", "-1.2", "1.123456", "1.\u00b2")),
        lambda: url.text("x", "[a-z]{1,5}", "usual"): ({"abc": "abc"}, ("a b", "abcdef", "<b>", "a\n", "")),
        lambda: url.one_of("x", ["one", "two"], "two"): ({"one": "one"}, ("One", "__class__", "")),
        lambda: url.text("x"): ({"a\n<b>": "a\n<b>"}, ()),
    }
    for ask, (fitting, others) in asks.items():
        monkeypatch.setattr(st, "query_params", {})
        missing = ask()
        for said, told in [*fitting.items(), *((other, missing) for other in (*others, far))]:
            monkeypatch.setattr(st, "query_params", {"x": said})
            assert ask() == told, said[:20]


def test_what_was_chosen_for_another_text_is_removed_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    address = {"step": "2", "shown": "3", "text": "a"}
    monkeypatch.setattr(st, "query_params", address)
    monkeypatch.setattr(st, "session_state", {})
    for about, left in (("a", 3), ("a", 3), ("b", 1)):
        url.keep_for(about, "step", "shown")
        assert len(address) == left, about
    url.put({"step": "1", "text": ""})
    assert address == {"step": "1"}
