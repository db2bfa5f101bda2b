"""The keyboard of the page on writing: its words follow each key, and a tap puts one into the text."""

import re

from playwright.sync_api import expect

from tests.browser import AT_REST, HAS_ENGINE, Visit

PAGE = "/writing?behind=Keyboard&text=She+saw+a+big+d"
WORDS = ".offers button"


def test_words_follow_each_key_and_a_tap_takes_one(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=WORDS)
    box = page.get_by_label("Your sentence")
    box.focus()
    page.keyboard.press("End")
    expect(page.locator(WORDS).filter(has_not_text=re.compile("^d"))).to_have_count(0)
    page.keyboard.type("o")  # the first key asks for the engine
    page.wait_for_function(HAS_ENGINE, timeout=60_000)
    page.wait_for_function(AT_REST)
    page.keyboard.type("o")
    expect(page.locator(WORDS).first).to_have_text(re.compile("^doo"))
    page.keyboard.type("r ")
    expect(page.locator(WORDS).first).not_to_have_text(re.compile("^d"))
    expect(page).not_to_have_url(re.compile("door"))  # Python has not heard of it
    word = page.locator(WORDS).first.inner_text()
    page.locator(WORDS).first.click()
    expect(box).to_have_value(f"She saw a big door {word} ", timeout=20_000)
    expect(page).to_have_url(re.compile("door"))
