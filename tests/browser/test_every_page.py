"""Every page of the menu, a new one too: open to all readers, figures first, and made for a projector.

One visit asks a page everything that is asked of every page.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import SCHEMES, Visit, turn, violations
from tests.browser.test_first_figure import (
    BELOW_TWO_LINES,
    HIGHEST,
    HIGHEST_ON_A_PROJECTOR,
    RECORD,
    SMALLEST,
    WRITTEN,
    each_tab,
    expect_figure_above,
    go,
)
from tests.browser.test_projector import SMALL, expect_one_line
from tests.pages.tabs import addresses
from tfmviz.ui import router

pytestmark = pytest.mark.browser

LESSONS = [page.name for page in router.PAGES if page.group]


@pytest.mark.parametrize("name", [page.name for page in router.PAGES])
def test_a_page_is_whole_axe_finds_nothing_and_every_tab_begins_with_its_figure(visit: Visit, name: str) -> None:
    """Axe looks at the page as it opens; at what is behind its tabs, in the pages' own tests."""
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.page.emulate_media(color_scheme="dark")
    page = visit.open(router.address(name).removeprefix("."), drawn="[data-testid=stMain] h1")
    for scheme in reversed(SCHEMES):
        turn(page, scheme)
        expect(page.get_by_text("BidiComponent Error")).to_have_count(0)  # Streamlit's words for a view that breaks
        assert violations(page) == [], scheme
    for tab in each_tab(page, name) if name in LESSONS else ():
        expect_figure_above(page, HIGHEST, what=tab)


@pytest.mark.parametrize("name", LESSONS)
def test_on_a_projector_one_line_then_every_tabs_figure_in_letters_for_the_last_row(visit: Visit, name: str) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    with visit.page.add_init_script(RECORD):
        page = go(visit, name, {**addresses(name)[0], "projector": "1"})
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.wait_for_selector(".st-key-head", state="attached")
    choices = ("text", "models", "head")
    expect_one_line(page, *(choice for choice in choices if page.locator(f".st-key-{choice}").is_visible()))
    assert page.evaluate(SMALL) == []
    for tab in each_tab(page, name):
        limit = BELOW_TWO_LINES if page.locator(".st-key-kind").is_visible() else HIGHEST_ON_A_PROJECTOR
        expect_figure_above(page, limit, what=tab)
        assert page.evaluate(WRITTEN, SMALLEST) == {}, tab
