"""What a newcomer wants to do first, in few clicks: find the head that links two words, and hide a word."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Visit

CLICKS = (
    "addEventListener('click', (event) => { if (event.isTrusted) globalThis.clicks = 1 + (globalThis.clicks ?? 0); })"
)


def clicks(page: Page) -> int:
    return page.evaluate("globalThis.clicks ?? 0")


@pytest.mark.parametrize("width", [390, 1024])
def test_which_head_links_two_words_takes_three_clicks_at_most(visit: Visit) -> None:
    page = visit.open("/explorer")
    page.evaluate(CLICKS)
    words = page.locator(".strip:visible button")
    words.filter(has_text="it").last.scroll_into_view_if_needed()
    words.nth(8).click()
    words.nth(1).click()
    best = page.get_by_role("group", name="Which head links two words?").get_by_role("button").first
    expect(best).to_be_in_viewport(ratio=1)
    expect(best).to_have_text("layer 3, head 2 0.89")
    best.click()
    expect(page.locator(".headline strong")).to_have_text("Layer 3, head 2")
    expect(page).to_have_url(re.compile("token=8.*to=1"))
    assert clicks(page) == 3


def test_a_word_is_hidden_in_two_clicks_at_most(visit: Visit) -> None:
    page = visit.open("/masks", drawn=".lab .count")
    page.evaluate(CLICKS)
    word = page.evaluate(
        """() => {
          const { left, top, cell } = globalThis.tfmvizViews.masks.view.board;
          return { x: left + 1.5 * cell, y: top / 2 };
        }"""
    )
    page.locator(".board canvas").click(position=word)
    expect(page).to_have_url(re.compile("edit="))
    page.get_by_text("The mask in words").click()
    expect(page.locator(".lab .words li").nth(3)).to_have_text("“'t” sees 0, 2–3")
    assert clicks(page) == 2


@pytest.mark.parametrize("width", [1024, 1280])
def test_the_last_row_of_the_matrix_is_in_sight(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 768})
    page = visit.open("/explorer")
    expect(page.locator(".matrix-picture")).to_be_in_viewport(ratio=1)
    scrolls = "(node) => node.scrollHeight > node.clientHeight + 1"
    assert not page.locator(".matrix-picture").evaluate(scrolls)
    assert not page.locator(".headline").evaluate(scrolls)


def test_the_heads_that_link_two_words_of_a_long_text_are_asked_for(visit: Visit) -> None:
    """Its weights are not all in the browser."""
    page = visit.open(f"/explorer?text={'+'.join(f'word{n}' for n in range(200))}&layer=1&head=2")
    words = page.locator(".strip:visible button")
    words.nth(7).click()
    words.nth(3).click()
    expect(page.get_by_role("group", name="Which head links two words?").get_by_role("button").first).to_have_text(
        re.compile(r"layer \d, head \d [\d.]+")
    )
