"""Home: what its head is said to do is what the model computes, and old addresses still open the explorer."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app import open_page, sent, views, words
from tfmviz import zoo
from tfmviz.ui import router
from tfmviz.ui.sentences import EXAMPLES

FIRST = EXAMPLES["tiny-english"][0]


def test_the_arcs_are_the_weights_of_the_first_examples_head() -> None:
    app = open_page("home")
    data, trace = sent(app, "home"), zoo.load("tiny-english").trace(FIRST.text)
    np.testing.assert_allclose(data["weights"], trace[f"{FIRST.layer}.pattern"][FIRST.head], atol=1e-4)
    row = data["weights"][data["word"]]
    assert data["labels"][data["word"]].strip() == FIRST.word
    assert data["labels"][row.index(max(row))].strip() == FIRST.to
    assert "layer 3, head 2 of `` tiny-english ``" in words(app)


def test_every_door_leads_to_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model too."""
    app = open_page("home")
    assert f"{len([page for page in router.PAGES if page.group])} pages in order" in words(app)
    monkeypatch.setattr(zoo, "catalogue", lambda: ())
    empty = open_page("home")
    assert "There is no model to show." in words(empty)
    for doors in (app, empty):
        assert [link.proto.page for link in doors.get("page_link")] == ["explorer", "lectures", "tokens"]


def test_only_a_session_that_begins_at_home_is_led_on_by_its_address() -> None:
    """`/?text=…` was the explorer's once; who comes back has chosen to be at home."""
    assert {"home", "explorer"} & set(views(open_page("home", text="The cat"))) == {"explorer"}
    for first in ("home", "explorer"):
        app = open_page(first).switch_page("pages/home.py")
        app.query_params["text"] = "The cat"
        assert {"home", "explorer"} & set(views(app.run())) == {"home"}


def test_a_page_of_the_course_leads_to_the_ones_before_and_after_it() -> None:
    course = [page.name for page in router.PAGES if page.group]
    for n in (0, 4, len(course) - 1):
        leads = [link.proto.page for link in open_page(course[n]).get("page_link")]
        assert leads == [*course[max(n - 1, 0) : n], *course[n + 1 : n + 2]]
    assert not [link for link in open_page("lectures").get("page_link") if link.proto.page in course]
