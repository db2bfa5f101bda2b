"""The browser's back button returns to a page as it was."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, Visit, take_from_menu


def expect_choices(page: Page, title: str, *, model: str, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_role("button", name=f"Model: {model}")).to_be_visible()
    expect(page.get_by_label("Your sentence")).to_have_value(text)
    page.wait_for_function(AT_REST)


def go_back_to(page: Page, name: str) -> None:
    """Presses the back button until the address is that of a page: a sentence of a page is an entry of its own.

    Each time it waits for the entry's sentence: of two presses at once, Streamlit may forget the second.
    """
    for _ in range(5):
        page.wait_for_function(AT_REST)
        page.go_back()
        if f"/{name}" in page.url:
            return
        (text,) = parse_qs(urlsplit(page.url).query)["text"]
        expect(page.get_by_label("Your sentence")).to_have_value(text)
    raise AssertionError(f"{name} is not among the last addresses.")


def test_sentence_and_model_stand_as_they_were(visit: Visit) -> None:
    page = visit.open("/masks?model=reverse&text=abc", drawn="canvas")
    visit.enter("abcdefg")
    expect(page).to_have_url(re.compile("text=abcdefg"))
    take_from_menu(page, "Attention", "Step by step")
    expect_choices(page, "Step by step", model="Letters backwards", text="abcdefg")
    visit.enter("hijk")
    expect(page.get_by_role("button", name="i → h")).to_be_visible()  # who goes back sooner may meet the answer there
    go_back_to(page, "masks")
    expect_choices(page, "Masks", model="Letters backwards", text="abcdefg")


def test_an_address_of_a_translators_page_that_names_no_model_has_one(visit: Visit) -> None:
    page = visit.open("/masks?model=reverse&text=abc", drawn="canvas")
    visit.turn_to("/translating")
    expect(page.get_by_role("button", name="Model: French to English")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
