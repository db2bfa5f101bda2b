"""Two sentences side by side in a browser: three clicks, one pointer for both, one link, one click to leave."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser import AT_REST, Visit, box_of, choose, keys
from tfmviz.ui import compare_menu

RIVER, MONEY = "We sat on the bank of the river.", "We put money in the bank of the town."
ADDRESS = "/explorer?" + urlencode({"text": RIVER, "with": "another sentence", "b": MONEY, "token": "4"})
DRAWN = ".st-key-side_b canvas"


def tip(page: Page, key: str) -> str:
    return page.locator(f".st-key-{key} .tip").inner_text()


def test_one_changed_word_is_compared_in_three_clicks_and_one_link_holds_both(visit: Visit) -> None:
    page = visit.open(f"/explorer?{urlencode({'text': RIVER})}", drawn=".explorer canvas")
    choose(page, "Compare with", "another sentence")  # two clicks
    box = page.get_by_label("The other sentence")
    expect(box).to_have_value(RIVER.replace("river", "town"))  # ready to be changed again
    box.click()
    box.fill(RIVER.replace("river", "road"))
    box.press("Enter")
    expect(page.locator(".st-key-side_b canvas")).to_have_attribute("aria-label", re.compile("road"))
    expect(page.get_by_text(re.compile("The head that changes most"))).to_be_visible()
    link = page.url
    page = visit.open(link.removeprefix(visit.server.address), drawn=DRAWN)
    expect(page.get_by_label("The other sentence")).to_have_value(RIVER.replace("river", "road"))
    page.locator("body").press("c")  # leaves B
    expect(page.locator(".explorer canvas").first).to_be_visible()
    expect(page).not_to_have_url(re.compile("with="))
    page.wait_for_function(AT_REST)
    page.locator("body").press("c")
    expect(page.get_by_role("option")).to_have_text(compare_menu.WITH_HEADS)  # all of them: the letter is not typed


def test_a_cell_that_is_pointed_at_in_a_shows_in_b_and_in_the_difference_before_the_next_frame(visit: Visit) -> None:
    page = visit.open(ADDRESS, drawn=DRAWN)
    page.wait_for_function(AT_REST)
    found = page.locator(".st-key-side_a canvas")
    found.scroll_into_view_if_needed()
    found.focus()
    page.keyboard.press("ArrowDown")
    for key, times in (("Home", 1), ("ArrowUp", 9), ("ArrowDown", 4), ("ArrowRight", 4)):
        for _ in range(times):
            page.keyboard.press(key)
    assert tip(page, "side_a").startswith("query 4 “bank”, key 4 “bank”: ")
    assert tip(page, "side_b").startswith("query 5 “bank”, key 5 “bank”: ")
    a, b, difference = (float(tip(page, key).rsplit(" ", 1)[1].replace("−", "-")) for key in KEYS)
    assert difference == pytest.approx(b - a, abs=2e-3)
    expect(page.locator(".st-key-side_b .mark")).to_be_visible()
    keys(page, "ArrowLeft", "ArrowLeft")
    page.keyboard.press("ArrowLeft")  # “sat”, which only A has
    assert tip(page, "side_b") == "This pair of tokens does not occur here."
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-side_b .mark")).to_be_hidden()


AT_ONCE = "([a, act, b, seen]) => { new Function('node', act)(a); return new Function('node', 'return ' + seen)(b); }"
"""Acts on a node and says what another shows then, before anybody could have asked Python."""


def test_a_token_followed_in_one_model_is_followed_in_the_other_at_once_and_the_address_says_so(visit: Visit) -> None:
    page = visit.open(ADDRESS.replace("explorer", "whole_model"), drawn=".st-key-whole_model_b canvas")
    page.wait_for_function(AT_REST)
    a, b = (page.locator(f".st-key-{key} .bar select").element_handle() for key in ("whole_model", "whole_model_b"))
    value = "node.value"
    assert b.evaluate(f"node => {value}") == "decoder.5"
    follow = "node.value = 'decoder.{}'; node.dispatchEvent(new Event('change'));"
    assert page.evaluate(AT_ONCE, [a, follow.format(6), b, value]) == "decoder.7"  # the second “the”
    expect(page).to_have_url(re.compile("token=6"))
    assert page.evaluate(AT_ONCE, [b, follow.format(0), a, value]) == "decoder.0"  # chosen in B
    expect(page).to_have_url(re.compile("token=0"))
    page.wait_for_function(AT_REST)
    assert [node.evaluate(f"node => {value}") for node in (a, b)] == ["decoder.0"] * 2
    assert page.evaluate(AT_ONCE, [a, follow.format(1), b, value]) == "decoder.0"  # “sat” is only in A
    expect(page.get_by_text("B has no such token")).to_be_visible()
    page.wait_for_function(AT_REST)
    assert [node.evaluate(f"node => {value}") for node in (a, b)] == ["decoder.1", "decoder.0"]


def test_a_head_is_gone_through_on_both_sides_at_once_by_pointer_and_keyboard(visit: Visit) -> None:
    page = visit.open(ADDRESS.replace("explorer", "step_by_step") + "&stage=share", drawn=".st-key-steps_b canvas")
    page.wait_for_function(AT_REST)
    a, b = (page.locator(f".st-key-{key} .tokens").element_handle() for key in ("steps", "steps_b"))
    asks = "[...node.querySelectorAll('button')].findIndex((button) => button.ariaPressed === 'true')"
    assert b.evaluate(f"node => {asks}") == 5
    click = "node.querySelectorAll('button')[{}].click();"
    assert page.evaluate(AT_ONCE, [a, click.format(6), b, asks]) == 7
    assert page.evaluate(AT_ONCE, [b, click.format(5), a, asks]) == 4
    assert page.evaluate(AT_ONCE, [a, click.format(7), b, asks]) == 5  # “river” is only in A
    expect(page).to_have_url(re.compile("token=7"))
    page.wait_for_function(AT_REST)
    count = page.locator(".steps .count")
    before = count.all_inner_texts()
    page.keyboard.press("ArrowRight")
    after = count.all_inner_texts()
    assert after[0] == after[1] != before[0]
    page.locator(".st-key-steps_b .stages button[data-stage=scores]").click()
    expect(page).to_have_url(re.compile("stage=scores"))
    page.wait_for_function(AT_REST)
    expect(count.last).to_have_text(count.first.inner_text())
    canvas = page.locator(".st-key-steps .focus canvas[data-matrix=raw], .st-key-steps canvas[data-matrix=raw]").first
    canvas.scroll_into_view_if_needed()
    box = box_of(canvas)
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.95)
    hovered = "(key) => globalThis.tfmvizViews[key].view.hovered?.part"
    places = "(key) => globalThis.tfmvizViews[key].view.link.places"
    (one, other), (in_a, in_b) = (
        [page.evaluate(what, key) for key in ("steps", "steps_b")] for what in (hovered, places)
    )
    if in_a["query"][one["query"]] in in_b["query"]:
        assert in_b["query"][other["query"]] == in_a["query"][one["query"]]
    else:
        assert other is None


KEYS = ("side_a", "side_b", "side_difference")


def test_on_a_projector_both_pictures_of_twelve_tokens_are_whole(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    page = visit.open(f"{ADDRESS}&projector=1", drawn=DRAWN)
    page.wait_for_function(AT_REST)
    for key in KEYS:
        box = box_of(page.locator(f".st-key-{key} canvas"))
        assert box["y"] + box["height"] <= 800, key
