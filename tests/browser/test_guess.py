"""Predict, then reveal: the figure hides, the question shows, nothing is computed, and the controls stay."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import Visit, open_tab

pytestmark = pytest.mark.browser

QUESTION = "After which layer does the model first say its final answer?"
LENS = "/residual_stream?stream=Logit+lens&text=the+cat+sat+down"


def figure(page: Page) -> Locator:
    return page.locator(".lens table, .lens canvas, .lens").first


def guess(page: Page) -> Locator:
    return page.locator(".st-key-guess button")


def press_g(page: Page) -> None:
    """Presses the key once it is listened for."""
    page.wait_for_selector(".st-key-guess button", state="attached")
    page.keyboard.press("g")


@pytest.mark.parametrize("mode", ["", "&projector=1"])
def test_the_figure_hides_until_the_room_has_guessed(visit: Visit, mode: str) -> None:
    page = visit.open(LENS + mode, drawn=".lens")
    expect(figure(page)).to_be_visible()
    expect(page.get_by_text(QUESTION)).to_be_hidden()
    guess(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(QUESTION)).to_be_visible()
    expect(figure(page)).to_be_hidden()
    expect(page.get_by_text("rank of the answer")).to_be_visible()
    expect(guess(page)).to_have_text("Show")
    press_g(page)
    expect(figure(page)).to_be_visible()
    expect(page.get_by_text(QUESTION)).to_be_hidden()


def test_hiding_says_nothing_to_the_server_and_a_new_sentence_stays_hidden(visit: Visit) -> None:
    frames: list[str] = []
    visit.page.on("websocket", lambda socket: socket.on("framesent", lambda _: frames.append("sent")))
    page = visit.open("/?text=the+cat+sat+down&layer=1&head=2")
    assert frames, "the page's websocket is watched"
    frames.clear()
    page.locator(".matrix-picture").focus()
    press_g(page)
    expect(page.get_by_text("Layer 1, head 2: which token does “down” look at most?")).to_be_visible()
    expect(page.locator(".explorer")).to_be_hidden()
    expect(page.get_by_text("Most probable next tokens")).to_be_hidden()
    assert frames == []
    visit.enter("a big dog ran home")
    expect(page.get_by_text("which token does “home” look at most?")).to_be_visible()
    expect(page.locator(".explorer")).to_be_hidden()
    guess(page).click()
    expect(page.locator(".explorer")).to_be_visible()


@pytest.mark.parametrize("address", ["/masks?effect=Attention", "/positions_rope?scheme=ALiBi"])
def test_on_a_projector_the_question_is_in_sight_though_words_follow_the_figure(visit: Visit, address: str) -> None:
    page = visit.open(f"{address}&projector=1", drawn="[role=tabpanel] canvas")
    press_g(page)
    question = page.locator("[class*=st-key-question-]")
    expect(question).to_be_visible()
    page.wait_for_function(
        "() => document.querySelector('[class*=st-key-question-]').getBoundingClientRect().bottom < innerHeight / 2"
    )


def test_typing_a_g_is_typing(visit: Visit) -> None:
    page = visit.open("/?text=the+cat")
    box = page.get_by_label("Your sentence")
    box.fill("")
    box.press_sequentially("goggle")  # an odd number of them: an even one would switch back what it switched
    expect(box).to_have_value("goggle")
    expect(page.locator(".explorer")).to_be_visible()


@pytest.mark.parametrize("address", ["/masks?effect=Which+mask+is+which", "/normalisation?about=%CE%B3+and+%CE%B2"])
def test_where_there_is_nothing_to_guess_there_is_no_button(visit: Visit, address: str) -> None:
    page = visit.open(address, drawn="[role=tab]")
    expect(guess(page)).to_be_hidden()
    open_tab(page, page.get_by_role("tab").first.inner_text())
    expect(guess(page)).to_be_visible()


def test_a_question_with_markup_in_its_token_is_text(visit: Visit) -> None:
    page = visit.open("/?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    press_g(page)
    expect(page.get_by_text("which token does", exact=False)).to_be_visible()
    assert page.locator("[data-testid=stMain] img").count() == 0
