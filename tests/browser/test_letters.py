"""Shortcuts of single letters can be switched off, and stay off."""

import re

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, READY, Visit, keys


def switch(page: Page) -> None:
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Single-letter shortcuts").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_single_letters_are_switched_off_and_on_again(visit: Visit) -> None:
    page = visit.open("/explorer")
    guess = page.get_by_role("button", name="Guess", exact=True)
    heading = page.locator(".headline strong")
    switch(page)
    page.reload()
    page.wait_for_selector(READY)
    page.wait_for_selector(".tiles button", state="attached")
    page.wait_for_function(AT_REST)
    page.locator(".strip:visible button").first.focus()
    keys(page, "g", "f", "?", "[")
    page.keyboard.press("ArrowRight")  # what comes after has been answered
    expect(page.locator(".strip:visible button").nth(1)).to_be_focused()
    expect(guess).to_be_visible()
    expect(heading).to_have_text("Layer 3, head 2")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("projector"))
    page.get_by_label("Your sentence").press("End")
    page.keyboard.type("g")
    expect(page.get_by_label("Your sentence")).to_have_value(re.compile("tired.g$"))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find")).to_be_visible()
    page.keyboard.press("Escape")
    switch(page)
    page.locator(".strip:visible button").first.focus()
    page.keyboard.press("[")
    expect(heading).to_have_text("Layer 2, head 2")
