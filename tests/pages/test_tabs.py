"""Rows of tabs: few enough to survey, and addresses of tabs that became a choice still open what they opened."""

from __future__ import annotations

from tests.app import open_page, views
from tests.pages import tabs
from tfmviz.places import PROJECT
from tfmviz.ui.router import PAGES


def test_a_row_has_at_most_seven_tabs() -> None:
    """What answers one question is a choice within one of them; `lesson.either` joins those that belong together."""
    crowded = []
    for page in (page.name for page in PAGES if page.name):
        file = PROJECT / "pages" / f"{page}.py"
        for key, titles in tabs.rows(file).items():
            crowded += [(page, key)] * (len(titles) > 7)
            assert set(tabs.within(file)) <= set(titles), page
    assert crowded == []


def test_an_old_address_opens_the_tab_and_the_choice() -> None:
    """What a page begins with is not in its address."""
    moved: list[tuple[str, dict[str, str], str, dict[str, str]]] = [
        ("tokens", {"tokens": "Every vocabulary"}, "vocabularies", {"cut": "Every vocabulary"}),
        ("tokens", {"tokens": "Four ways"}, "four_ways", {}),
        ("efficient", {"method": "All of them"}, "together", {"method": "All of them"}),
    ]
    for page, old, figure, choice in moved:
        app = open_page(page, text="The cat sat.", **old)
        assert choice.items() <= {key: app.query_params[key] for key in app.query_params}.items()
        assert figure in views(app)
