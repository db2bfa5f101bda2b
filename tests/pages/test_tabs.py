"""Rows of tabs: few enough to survey, and addresses of tabs that became a choice still open what they opened."""

from __future__ import annotations

import pytest

from tests.app import open_page, views
from tests.pages import tabs
from tfmviz.places import PROJECT
from tfmviz.ui.router import PAGES

MOST = 7
"""Tabs in a row; what answers one question is a choice within one of them."""


@pytest.mark.parametrize("page", [page.name for page in PAGES if page.name])
def test_a_row_has_at_most_seven_tabs(page: str) -> None:
    file = PROJECT / "pages" / f"{page}.py"
    for key, titles in tabs.rows(file).items():
        assert len(titles) <= MOST, f"{page}: {key} has {len(titles)} tabs; `lesson.either` joins those that belong"
        assert set(tabs.within(file)) <= set(titles)


@pytest.mark.parametrize(
    ("page", "old", "figure", "choice"),
    [
        ("tokens", {"tokens": "Every vocabulary"}, "vocabularies", {"cut": "Every vocabulary"}),
        ("tokens", {"tokens": "Four ways"}, "four_ways", {}),
        ("efficient", {"method": "All of them"}, "together", {"method": "All of them"}),
    ],
)
def test_an_old_address_opens_the_tab_and_the_choice(
    page: str, old: dict[str, str], figure: str, choice: dict[str, str]
) -> None:
    """What a page begins with is not in its address."""
    app = open_page(page, text="The cat sat.", **old)
    assert choice.items() <= {key: app.query_params[key] for key in app.query_params}.items()
    assert figure in views(app)
