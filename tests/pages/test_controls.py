"""What the explorer is told: of the address only what can be meant, and of two pins the right one."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import open_page, sent
from tfmviz.ui import controls

SENT = "heads:5.3,show:mean,top:80,least:0.02,order:previous-token"
"""A look as the explorer writes it."""


def selection(app: AppTest) -> dict[str, Any]:
    """What Python tells the explorer to show."""
    return dict(sent(app, "explorer_selection"))


def test_a_look_reaches_the_browser_only_if_all_of_it_could_be_the_explorers() -> None:
    for look in (SENT, "a" * 300):
        assert selection(open_page(look=look))["look"] == look
    for look in (f"{SENT}<b>", f"{SENT}\n", "<b>", "a" * 301):
        assert selection(open_page(look=look))["look"] == "", look


def test_the_session_says_what_is_pinned_until_the_back_button_asks_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for goes_back, told in ((False, (3, 1)), (True, (5, 2))):
        app = open_page(text="the cat sat on the mat", token="3", to="1")
        app.query_params["token"], app.query_params["to"] = "5", "2"
        with monkeypatch.context() as patch:
            patch.setattr(controls, "goes_back", lambda back=goes_back: back)
            app.run()
        assert (selection(app)["token"], selection(app)["to"]) == told


def boxes() -> None:
    """A script with a box for a whole number and one for any."""
    from tfmviz.ui import inputs

    inputs.number_box("whole", key="whole", value=3, max_value=40)
    inputs.number_box("any", key="any", value=0.5)


def test_a_number_of_the_address_is_taken_only_if_it_is_one() -> None:
    none = ("inf", "-Infinity", "1e400", "9" * 400, "1e17", "nan", "three", "<b>", "")
    for said, whole, number in (*((none, 3, 0.5) for none in none), ("41", 3, 41), ("2e1", 20, 20), ("-7", -7, -7)):
        app = AppTest.from_function(boxes)
        app.query_params["whole"] = app.query_params["any"] = said
        app.run()
        assert not app.exception, said
        assert [box.value for box in app.number_input] == [whole, number], said
        app.number_input(key="whole").set_value(5).run()
        assert [box.value for box in app.number_input] == [5, number], said


def test_the_first_change_of_a_box_comes_into_an_address_that_said_infinity() -> None:
    app = AppTest.from_function(boxes)
    app.query_params["whole"] = "inf"
    app.run()
    app.number_input(key="whole").set_value(5).run()  # what a browser writes for a bound box, this test does not see
    assert app.query_params["whole"] == "5"
    app.number_input(key="whole").set_value(3).run()
    assert [box.value for box in app.number_input] == [3, 0.5]
