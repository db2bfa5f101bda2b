"""Home: alive at once, and every way out of it; addresses that were the explorer's."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

from playwright.sync_api import expect

from tests.browser import Visit, menu, saved

WORDS = ".words button"


def test_a_word_shows_where_the_head_looks_by_pointer_and_keys(visit: Visit) -> None:
    page = visit.open("/", drawn=WORDS)
    said = page.locator(".st-key-home .said")
    expect(said).to_have_text("“it” gives 89% of its attention to “animal”.")
    assert page.locator(".st-key-home path").count() > 1
    page.locator(WORDS).first.hover()
    expect(said).to_have_text("“The” gives 100% of its attention to itself.")
    expect(page.locator(".st-key-home path")).to_have_count(0)
    page.mouse.move(5, 700)
    expect(said).to_contain_text("“it”")
    page.locator(f"{WORDS}[aria-pressed=true]").press("ArrowLeft")
    expect(said).to_contain_text("“because”")


def test_the_picture_is_saved_with_its_words_and_arcs(visit: Visit) -> None:
    page = visit.open("/", drawn=WORDS)
    picture = ElementTree.fromstring(saved(page.locator(".st-key-home"), "SVG").decode())
    kinds = Counter(node.tag.rpartition("}")[2] for node in picture.iter())
    assert kinds["path"] == page.locator(".st-key-home .picture path").count() > 1
    assert {"animal", "it"} <= {node.text for node in picture.iter()}


def test_an_own_sentence_opens_the_explorer(visit: Visit) -> None:
    for text in ("My dog ran.", "<img src=x onerror=alert(1)> 100% 🙂"):
        page = visit.open("/", drawn=WORDS)
        page.get_by_label("Your own sentence").fill(text)
        page.keyboard.press("Enter")
        page.wait_for_selector(".tiles button")
        assert re.search(r"/explorer\?text=", page.url)
        expect(page.locator("textarea")).to_have_value(text)


def test_the_name_of_the_app_leads_home_and_the_sentence_stays(visit: Visit) -> None:
    page = visit.open("/explorer?text=My+dog+ran.")
    menu(page).get_by_role("link", name="tfmviz").click()
    page.wait_for_selector(WORDS)
    page.locator(".stMain").get_by_role("link", name="Explore", exact=True).click()
    page.wait_for_selector(".tiles button")
    expect(page.locator("textarea")).to_have_value("My dog ran.")


def test_an_address_that_was_the_explorers_opens_it(visit: Visit) -> None:
    page = visit.open("/?text=My+dog+ran.&layer=2&head=1&view=Residual+stream")
    assert re.search(r"/explorer\?", page.url)
    expect(page.locator("textarea")).to_have_value("My dog ran.")
    expect(page.get_by_role("tab", name="Residual stream")).to_have_attribute("aria-selected", "true")


def test_who_asks_for_a_page_that_there_is_not_is_told_so(visit: Visit) -> None:
    said = visit.open("/no-such-page", drawn="h1").get_by_text("There is no page at this address.")
    expect(said).to_be_visible()
    visit.open("/masks", drawn="h1")
    expect(said).to_have_count(0)
