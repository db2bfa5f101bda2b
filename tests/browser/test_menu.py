"""The header in the browser: where one is, every page in two clicks, sharing; on a projector it is out of sight."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser import (
    AT_REST,
    SCHEMES,
    Visit,
    box_of,
    group_of,
    keys,
    menu,
    project,
    take_from_menu,
    turn,
    violations,
)
from tests.browser.test_first_figure import POND
from tfmviz.ui.router import PAGES

DRAWN = "h1"
GROUPS = list(dict.fromkeys(page.group for page in PAGES if page.group))


def expect_marked(page: Page, group: str, title: str) -> None:
    """One group is marked, and holds the page's only title."""
    marked = menu(page).locator(".here")
    expect(marked).to_have_count(1)
    expect(marked.locator("button")).to_have_text(re.compile(f"^{group}"))
    expect(marked.locator("h1")).to_have_text(title)
    expect(page.locator("h1")).to_have_count(1)


def test_all_groups_stand_in_one_line_beside_the_longest_titles(visit: Visit) -> None:
    found = {}
    for name in ("ladder", "residual_stream", "positions_compare", "efficient"):
        page = visit.open(f"/{name}", drawn=DRAWN)
        for width in (1280, 1024):
            page.set_viewport_size({"width": width, "height": 768})
            page.wait_for_function(AT_REST)
            for group in GROUPS:
                expect(group_of(page, group).get_by_role("button")).to_be_visible()
            found[name, width] = page.evaluate("looks.crowded()")
    assert {place: crowded for place, crowded in found.items() if crowded} == {}


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_every_page_is_two_taps_away_and_a_tap_closes_the_list(visit: Visit) -> None:
    page = visit.open("/explorer")
    assert page.evaluate("looks.crowded()") == []
    expect(page.get_by_role("heading", level=1)).to_have_text("Explorer")
    links = menu(page).get_by_role("link")
    expect(links).to_have_count(0)
    menu(page).get_by_role("button", name="Menu").click()
    expect(links).to_have_count(len(PAGES))
    links.last.scroll_into_view_if_needed()
    expect(links.last).to_be_in_viewport()
    links.filter(has_text="Size").click()
    expect(page.locator("h1")).to_have_text("Size")
    page.wait_for_function(AT_REST)
    expect(links).to_have_count(0)


def test_escape_and_a_click_elsewhere_close_a_list(visit: Visit) -> None:
    page = visit.open("/masks", drawn="canvas")
    opener = group_of(page, "Position").get_by_role("button")
    links = group_of(page, "Position").get_by_role("link")
    ways: list[Callable[[], None]] = [
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(640, 780),
        lambda: opener.click(),
    ]
    for close in ways:
        expect(opener).to_have_attribute("aria-expanded", "false")
        opener.focus()
        page.keyboard.press("Enter")
        expect(opener).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Tab")
        expect(links.first).to_be_focused()
        close()
        expect(links).to_have_count(0)
    opener.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()


def test_the_group_of_the_open_page_is_marked_and_one_list_is_open_at_a_time(visit: Visit) -> None:
    page = visit.open("/masks", drawn=DRAWN)
    expect_marked(page, "Attention", "Masks")
    take_from_menu(page, "Position", "RoPE and biases")
    expect_marked(page, "Position", "RoPE and biases")
    menu(page).get_by_role("link", name="tfmviz").click()
    expect(menu(page).locator(".here h1")).to_have_text("tfmviz")
    expect(menu(page).locator(".here a")).to_have_attribute("aria-current", "page")
    page.wait_for_function(AT_REST)
    for group in ("Position", "Cost"):
        group_of(page, group).get_by_role("button").click()
        titles = [one.title for one in PAGES if one.group == group]
        expect(menu(page).locator(".pages").get_by_role("link")).to_have_count(len(titles))
        expect(menu(page).locator(".pages .title:visible")).to_have_text(titles)
    for scheme in SCHEMES:
        turn(page, scheme)
        assert violations(page, ".st-key-header") == [], scheme
    page.set_viewport_size({"width": 390, "height": 844})
    menu(page).get_by_role("button", name="Menu").click()
    for scheme in SCHEMES:
        turn(page, scheme)
        assert violations(page, ".st-key-header") == [], scheme


HEADER = "[data-testid=stLayoutWrapper]:has(> .st-key-header)"

LINE = 130
"""Pixels that the sentence and the choices may take, side by side or in two lines."""


def expect_one_line(page: Page, *choices: str) -> None:
    """These choices end above `LINE`, once the page has found its shape."""
    page.wait_for_function(
        """([limit, ...names]) => names.every(name => {
            const box = document.querySelector(`.st-key-${name}`)?.getBoundingClientRect();
            return box && box.height && box.bottom < limit;
        })""",
        arg=[LINE, *choices],
    )


def expect_header(page: Page, *, is_seen: bool) -> None:
    header = expect(page.locator(HEADER))
    header.to_have_css("opacity", str(int(is_seen)))
    (header.to_be_in_viewport if is_seen else header.not_to_be_in_viewport)(ratio=0.99)


def test_f_fills_the_screen_and_brings_the_frame_back_and_a_question_mark_lists_the_keys(visit: Visit) -> None:
    page = visit.open("/explorer")
    page.wait_for_selector(".st-key-keys button", state="attached")
    box, body = page.get_by_label("Your sentence"), page.locator("body")
    listed = page.get_by_role("dialog", name="Keys")
    expect_header(page, is_seen=True)
    project(page)
    expect_header(page, is_seen=False)
    expect_one_line(page, "text", "models")
    body.press("f")
    expect(page).not_to_have_url(re.compile("projector"))
    page.wait_for_function(AT_REST)
    expect_header(page, is_seen=True)
    body.press("?")
    expect(listed).to_contain_text("projector mode")
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    box.fill("")
    box.press_sequentially("fluffy?")  # an odd number of them: an even one would bring back what it took
    expect(box).to_have_value("fluffy?")
    expect_header(page, is_seen=True)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_the_header_waits_above_the_window_for_the_pointer_and_for_tab(visit: Visit) -> None:
    page = visit.open("/masks?projector=1", drawn="canvas")
    page.mouse.move(640, 600)
    expect_header(page, is_seen=False)
    page.mouse.move(640, 2)
    expect_header(page, is_seen=True)
    page.mouse.move(640, 600)
    expect_header(page, is_seen=False)
    keys(page, "Tab", "Tab", "Tab")  # past the link to the page and the page
    expect(menu(page).get_by_role("link", name="tfmviz")).to_be_focused()
    expect_header(page, is_seen=True)
    take_from_menu(page, "Position", "RoPE and biases")
    expect(page).to_have_url(re.compile("positions_rope.*projector=1"))


def test_but_for_the_header_and_the_size_of_letters_a_projector_shows_the_same_page(visit: Visit) -> None:
    for name in ("explorer", "masks", "residual_stream"):
        page = visit.open(f"/{name}", drawn="[data-testid=stMain] canvas, [data-testid=stMain] svg")
        plain = page.evaluate("looks.layout()")
        assert len(plain) > 10
        project(page)
        assert page.evaluate("looks.layout()") == plain, name


def test_on_a_small_projector_choices_stand_apart_and_a_long_sentence_leaves_the_matrix_in_sight(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/step_by_step?projector=1&model=french-english", drawn=".st-key-kind")
    expect_one_line(page, "text", "models", "head")
    assert page.evaluate("looks.overlapping(['text', 'models', 'kind', 'layer', 'head'])") == []
    assert page.evaluate("looks.cut('.st-key-kind input[role=combobox]')") == []
    page = visit.open(f"/explorer?projector=1&text={quote(POND)}", drawn=".matrix-picture canvas")
    for selector, least, lowest in ((".st-key-text", 500, 100), (".matrix-picture", 400, 560)):
        box = box_of(page.locator(selector).first)
        assert box["width"] > least
        assert box["y"] < lowest
