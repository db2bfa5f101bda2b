"""The menu of pages in the browser: the open group is marked, and on a phone every page is two taps away."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, Visit, take_from_menu
from tfmviz.ui.router import PAGES

SECTIONS = "[data-testid=stTopNavSection]"


def expect_marked(page: Page, name: str | re.Pattern[str]) -> None:
    marked = page.locator(f"{SECTIONS}[aria-current=true]")
    expect(marked).to_have_count(1)
    expect(marked).to_have_text(name)


def test_the_group_of_the_open_page_is_marked(visit: Visit) -> None:
    page = visit.open("/masks", drawn=SECTIONS)
    expect_marked(page, "Attention")
    take_from_menu(page, "Position", "RoPE and biases")
    expect_marked(page, "Position")
    page.get_by_test_id("stHeader").get_by_text("tfmviz", exact=True).click()
    expect(page.locator(f"{SECTIONS}[aria-current]")).to_have_count(0)


def test_where_a_group_has_no_room_the_entry_that_holds_it_is_marked(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/size", drawn=SECTIONS)
    expect_marked(page, re.compile(r"^\d+ more$"))
    page.set_viewport_size({"width": 1900, "height": 768})
    expect_marked(page, "Cost")


def test_on_a_phone_every_page_is_in_the_menu_and_a_tap_closes_it(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open("/explorer")
    page.get_by_test_id("stExpandSidebarButton").click()
    links = page.get_by_test_id("stSidebarNavLink")
    expect(links).to_have_count(len(PAGES))
    for at in range(len(PAGES)):
        expect(links.nth(at)).to_be_visible()
    links.filter(has_text="Size").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Size: parameters, memory, training")
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    page.wait_for_function(AT_REST)
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()


def test_on_a_wide_screen_the_sidebar_stays(visit: Visit) -> None:
    page = visit.open("/masks", drawn=SECTIONS)
    take_from_menu(page, "Attention", "Explorer")
    page.wait_for_selector(".tiles button")
    expect(page.get_by_test_id("stSidebar")).to_be_in_viewport()
