"""The search by a key or a button, and shortcuts of single letters, which can be switched off."""

import re

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, READY, Visit, keys, violations
from tests.browser.test_menu import expect_header
from tfmviz.ui.router import PAGES

BOX = "Find a term, a page or a model"


def ask(page: Page, question: str) -> None:
    """Opens the search, as soon as its script is there, and types."""
    page.wait_for_selector(".st-key-find button", state="attached")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name=BOX).press_sequentially(question)


def test_the_button_lists_all_pages_the_arrows_choose_and_letters_are_no_keys_of_the_page(visit: Visit) -> None:
    """F would open the projector, G hide the values, ? list the keys."""
    page = visit.open("/masks", drawn="canvas")
    box = page.get_by_role("combobox", name=BOX)
    page.get_by_role("button", name="Find").click()
    options = page.get_by_role("listbox", name="Found").get_by_role("option")
    expect(options).to_have_count(len(PAGES))
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    keys(page, "ArrowDown", "ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert violations(page, ".st-key-find") == []
    box.press_sequentially("fgp?[]")
    page.wait_for_function(AT_REST)
    expect(page).not_to_have_url(re.compile("projector"))
    expect(box).to_have_value("fgp?[]")
    expect(page.get_by_role("status").filter(has_text="Nothing found")).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()


def test_a_projector_has_the_keys_alone_and_stays_one(visit: Visit) -> None:
    page = visit.open("/explorer?projector=1&text=The+cat+sat.")
    page.mouse.move(640, 600)
    expect_header(page, is_seen=False)  # which holds the button
    ask(page, "RoPE")
    page.get_by_role("listbox", name="Found").get_by_role("option").first.click()
    expect(page.get_by_role("tab", name="Turning")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("projector=1"))
    expect(page.get_by_label("Your sentence")).to_have_value("The cat sat.")


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
    switch(page)
    page.locator(".strip:visible button").first.focus()
    page.keyboard.press("[")
    expect(heading).to_have_text("Layer 2, head 2")
