"""The choices of a page: those that change it are shown, the menu of models, and none lies beyond a phone's edge."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import SCHEMES, Visit, keys, project, turn, violations
from tests.cases import each

CHOSEN = "model=twins-rope&layer=2&head=1"


def expect_shown(page: Page, *names: str) -> None:
    for name, key in (("text", "text"), ("model", "models"), ("layer", "layer"), ("head", "head")):
        expect(page.locator(f".st-key-{key}")).to_be_visible(visible=name in names)


def test_a_page_shows_what_changes_it_or_its_tab(visit: Visit) -> None:
    for name, shown in (
        ("complexity?", ""),
        ("counting?", "text"),
        ("tokens?", "text model"),
        ("masks?", "text model layer head"),
        ("step_by_step?part=Why+√d%3F&", ""),
        ("step_by_step?part=Heads+or+their+mean%3F&", "text model layer"),
    ):
        page = visit.open(f"/{name}{CHOSEN}", drawn=".st-key-head")
        expect_shown(page, *shown.split())
        project(page)
        expect_shown(page, *shown.split())


def test_a_message_about_the_models_is_seen_where_no_choice_is(visit: Visit) -> None:
    alert = "(box) => box.insertAdjacentHTML('beforeend', '<div class=stAlert>A model is unavailable.</div>')"
    for address in ("/counting", "/counting?projector=1"):
        page = visit.open(address, drawn=".st-key-head")
        page.locator(".st-key-choices").evaluate(alert)
        expect(page.get_by_text("A model is unavailable.")).to_be_visible()
        expect_shown(page, "text")


def open_menu(page: Page, chosen: str = "Tiny English") -> None:
    page.get_by_role("button", name=f"Model: {chosen}").click()
    expect(page.get_by_role("listbox", name="Models")).to_be_focused()


def test_a_model_is_chosen_by_its_name_and_a_word_on_ones_own_changes_nothing(visit: Visit) -> None:
    """F, a key of the page elsewhere, would open the projector."""
    page = visit.open("/explorer")
    open_menu(page)
    chosen = page.get_by_role("group", name="Continue a text, like GPT").get_by_role("option", selected=True)
    expect(chosen).to_contain_text("6 layers × 8 heads")
    for scheme in SCHEMES:
        turn(page, scheme)
        assert violations(page, ".st-key-models") == []
    keys(page, "End", "Enter")
    dialog = page.get_by_role("dialog", name="Models")
    expect(dialog).to_contain_text("python -m tfmviz.huggingface openai-community/gpt2 --name gpt2")
    assert violations(page, ".st-key-models") == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("listbox", name="Models")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page).to_have_url(visit.server.address + "/explorer")
    open_menu(page)
    keys(page, "f", "f", "ArrowDown", "Enter")
    expect(page.get_by_role("button", name="Model: Letters backwards")).to_be_focused()
    expect(page).not_to_have_url(re.compile("projector"))
    open_menu(page, "Letters backwards")
    page.get_by_role("option", name="French to English").click()
    expect(page.get_by_role("button", name="Model: French to English")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/explorer\?model=french-english\b"))


@pytest.mark.parametrize("width", [390])
@each("address", ["/normalisation", "/recipe?recipe=Adam", "/residual_stream?stream=Logit+lens"])
def test_no_choice_lies_beyond_the_edge(visit: Visit, address: str) -> None:
    page = visit.open(address, drawn=".stButtonGroup")
    rights = page.locator(".stButtonGroup button").evaluate_all(
        "all => all.map((node) => node.getBoundingClientRect().right)"
    )
    assert max(rights) <= 390
