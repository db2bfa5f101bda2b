"""What only a browser shows of the page on positions: words that are clicked, the address, phones, accessibility."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import Visit

PAGE = "/positions?text=Man+eats+small+dinosaur."
DRAWN = "[data-testid=stVegaLiteChart] svg, .cells canvas"


def test_two_words_that_are_clicked_change_places(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&order=0.1.2.3.4", drawn=DRAWN)
    words = page.locator(".st-key-swap button")
    expect(words).to_have_text(["Man", "eats", "small", "dinosaur", "."])
    expect(page.get_by_text("nothing has moved")).to_be_visible()
    words.nth(1).click()
    words.nth(3).click()
    expect(page).to_have_url(re.compile(r"order=0\.3\.2\.1\.4"))
    expect(words).to_have_text(["Man", "dinosaur", "small", "eats", "."])
    expect(page.get_by_text(re.compile("A sum has no order"))).to_be_visible()
    page.reload()
    expect(words).to_have_text(["Man", "dinosaur", "small", "eats", "."])


@pytest.mark.parametrize("width", [390, 1280])
def test_all_words_of_a_long_text_can_be_reached(visit: Visit) -> None:
    page = visit.open(f"/positions?text={'+'.join(f'word{n}' for n in range(60))}", drawn=DRAWN)
    words, box = page.locator(".st-key-swap button"), page.locator(".st-key-swap [role=toolbar]")
    expect(words.nth(20)).to_be_attached()
    words.last.scroll_into_view_if_needed()
    expect(words.last).to_be_in_viewport(ratio=1)
    assert box.evaluate("(node) => node.scrollWidth <= node.clientWidth && node.clientHeight < 200")
