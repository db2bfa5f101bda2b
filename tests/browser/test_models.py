"""The menu of models in the browser: by pointer and by keys, and what it says of a reader's own model."""

import re

from playwright.sync_api import Page, expect

from tests.browser import SCHEMES, Visit, keys, turn, violations


def open_menu(page: Page, chosen: str = "Tiny English") -> None:
    page.get_by_role("button", name=f"Model: {chosen}").click()
    expect(page.get_by_role("listbox", name="Models")).to_be_focused()


def test_a_model_is_chosen_by_its_name(visit: Visit) -> None:
    page = visit.open("/explorer")
    open_menu(page)
    expect(
        page.get_by_role("group", name="Continue a text, like GPT").get_by_role("option", selected=True)
    ).to_contain_text("6 layers × 8 heads")
    for scheme in SCHEMES:
        turn(page, scheme)
        assert violations(page, ".st-key-models") == []
    page.get_by_role("option", name="French to English").click()
    expect(page.get_by_role("button", name="Model: French to English")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/explorer\?model=french-english\b"))


def test_a_word_on_ones_own_model_changes_nothing_and_letters_and_arrows_choose(visit: Visit) -> None:
    """F, a key of the page elsewhere, would open the projector."""
    page = visit.open("/explorer")
    open_menu(page)
    keys(page, "End", "Enter")
    dialog = page.get_by_role("dialog", name="Models")
    expect(dialog).to_contain_text("python -m tfmviz.huggingface openai-community/gpt2 --name gpt2")
    assert violations(page, ".st-key-models") == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("listbox", name="Models")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Model: Tiny English")).to_be_visible()
    expect(page).to_have_url(visit.server.address + "/explorer")
    open_menu(page)
    keys(page, "f", "f", "ArrowDown", "Enter")
    expect(page.get_by_role("button", name="Model: Letters backwards")).to_be_focused()
    expect(page).not_to_have_url(re.compile("projector"))
