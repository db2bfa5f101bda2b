"""What only a browser shows of the page that counts words: clicks, links, widths, accessibility."""

import csv
import re

from playwright.sync_api import expect

from tests.browser import Visit, saved, tool

PAGE = "/counting?text=today+the+price+of"
DRAWN = ".counts table"


def test_a_click_shows_the_sentences_and_the_link_brings_them_back(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=DRAWN)
    row = page.get_by_role("button", name="his", exact=True)
    row.click()
    expect(row).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".counts mark").first).to_have_text(re.compile("price of his", re.IGNORECASE))
    expect(page).to_have_url(re.compile("counted=his"))
    page.reload()
    expect(page.get_by_text("“price of his” occurs once:")).to_be_visible()
    expect(page.get_by_role("button", name="his", exact=True)).to_have_attribute("aria-pressed", "true")


def test_a_row_is_chosen_by_keyboard_and_the_table_is_saved_with_plain_numbers(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=DRAWN)
    row = page.get_by_role("button", name="this", exact=True)
    row.focus()
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("aria-pressed", "true")
    expect(row).to_be_focused()
    tool(page.locator(".counts"), "Values").click()
    head, first, *_ = csv.reader(saved(page, "CSV").decode().splitlines())
    assert head[0] == "next word w"
    assert first[:3] == ["rice", "2", "9"]
