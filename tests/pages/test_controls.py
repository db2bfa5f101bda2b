"""What the explorer is told: of the address only what can be meant, and of two pins the right one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import open_page, views
from tfmviz.ui import controls

SENT = "heads:5.3,show:mean,top:80,least:0.02,order:previous-token"
"""A look as the explorer writes it."""


def selection(app: AppTest) -> dict[str, Any]:
    """What Python tells the explorer to show."""
    return json.loads(views(app)["explorer_selection"].json)


@pytest.mark.parametrize(
    ("look", "told"),
    [(SENT, SENT), (f"{SENT}<b>", ""), (f"{SENT}\n", ""), ("<b>", ""), ("a" * 300, "a" * 300), ("a" * 301, "")],
)
def test_a_look_reaches_the_browser_only_if_all_of_it_could_be_the_explorers(look: str, told: str) -> None:
    assert selection(open_page(look=look))["look"] == told


@pytest.mark.parametrize(("goes_back", "told"), [(False, (3, 1)), (True, (5, 2))])
def test_the_session_says_what_is_pinned_until_the_back_button_asks_the_address(
    goes_back: bool, told: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(text="the cat sat on the mat", token="3", to="1")
    app.query_params["token"], app.query_params["to"] = "5", "2"
    monkeypatch.setattr(controls, "goes_back", lambda: goes_back)
    app.run()
    assert (selection(app)["token"], selection(app)["to"]) == told
