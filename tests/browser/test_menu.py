"""The header in the browser: it says where one is, leads to every page in two clicks, and shares what one sees."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import AT_REST, SCHEMES, Visit, group_of, menu, take_from_menu, turn, violations
from tfmviz.ui.router import PAGES

DRAWN = "h1"
GROUPS = list(dict.fromkeys(page.group for page in PAGES if page.group))

CROWDED = """() => {
    const all = (root) => [...root.querySelectorAll("*")]
        .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
    const parts = all(document.querySelector(".st-key-header"))
        .filter((node) => node.matches("button, a, h1") && !node.querySelector("h1") && node.checkVisibility())
        .map((node) => ({ name: node.textContent.trim() || node.ariaLabel, box: node.getBoundingClientRect() }))
        .sort((one, other) => one.box.left - other.box.left);
    const line = parts[0].box;
    return parts.filter(({ box }, n) => {
        const isInLine = box.top < line.bottom && line.top < box.bottom && box.top >= 0;
        const isFree = box.left >= (n && parts[n - 1].box.right - 0.5) && box.right <= innerWidth;
        return !isInLine || !isFree;
    }).map(({ name, box }) => `${name}: ${box.left} to ${box.right}, ${box.top} to ${box.bottom}`);
}"""
"""What of the header lies on its neighbour, in another line or out of the window."""


def expect_marked(page: Page, group: str, title: str) -> None:
    """One group is marked, and holds the page's only title."""
    marked = menu(page).locator(".here")
    expect(marked).to_have_count(1)
    expect(marked.locator("button")).to_have_text(re.compile(f"^{group}"))
    expect(marked.locator("h1")).to_have_text(title)
    expect(page.locator("h1")).to_have_count(1)


def test_the_group_of_the_open_page_is_marked_and_holds_its_title(visit: Visit) -> None:
    page = visit.open("/masks", drawn=DRAWN)
    expect_marked(page, "Attention", "Masks")
    take_from_menu(page, "Position", "RoPE and biases")
    expect_marked(page, "Position", "RoPE and biases")
    menu(page).get_by_role("link", name="tfmviz").click()
    expect(menu(page).locator(".here h1")).to_have_text("tfmviz")
    expect(menu(page).locator(".here a")).to_have_attribute("aria-current", "page")


def test_a_link_keeps_sentence_and_model_and_loads_nothing_anew(visit: Visit) -> None:
    page = visit.open("/masks?model=reverse&text=abc", drawn="canvas")
    page.evaluate("globalThis.isTheSame = true")
    take_from_menu(page, "Attention", "Step by step")
    expect(page.locator("h1")).to_have_text("Step by step")
    expect(page).to_have_url(re.compile("step_by_step.*text=abc.*model=reverse"))
    expect(page.get_by_label("Your sentence")).to_have_value("abc")
    expect(page.get_by_role("button", name="Model: Letters backwards")).to_be_visible()
    other = menu(page).get_by_role("link", name="Lectures")
    other.dispatch_event("pointerdown")  # of any button of a mouse: the middle one opens another tab
    expect(other).to_have_attribute("href", re.compile("model=reverse"))
    assert page.evaluate("globalThis.isTheSame")


def test_all_groups_stand_in_one_line_beside_the_longest_titles(visit: Visit) -> None:
    found = {}
    for name in ("ladder", "residual_stream", "positions_compare", "efficient"):
        page = visit.open(f"/{name}", drawn=DRAWN)
        for width in (1280, 1024):
            page.set_viewport_size({"width": width, "height": 768})
            page.wait_for_function(AT_REST)
            for group in GROUPS:
                expect(group_of(page, group).get_by_role("button")).to_be_visible()
            found[name, width] = page.evaluate(CROWDED)
    assert {place: crowded for place, crowded in found.items() if crowded} == {}


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_every_page_is_two_taps_away_and_a_tap_closes_the_list(visit: Visit) -> None:
    page = visit.open("/explorer")
    assert page.evaluate(CROWDED) == []
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


def test_one_list_is_open_at_a_time(visit: Visit) -> None:
    page = visit.open("/masks", drawn=DRAWN)
    for group in ("Position", "Cost"):
        group_of(page, group).get_by_role("button").click()
        titles = [one.title for one in PAGES if one.group == group]
        expect(menu(page).locator(".pages").get_by_role("link")).to_have_count(len(titles))
        expect(menu(page).locator(".pages .title:visible")).to_have_text(titles)


def test_share_copies_the_address_and_says_so(visit: Visit) -> None:
    page = visit.open("/masks?text=the+cat&layer=2", drawn="canvas")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Share").click()
    said = page.get_by_role("status").filter(has_text="Copied")
    expect(said).to_be_visible()
    expect(page).to_have_url(page.evaluate("navigator.clipboard.readText()"))
    expect(said).to_have_count(0)


def test_the_header_is_open_to_all_readers(visit: Visit) -> None:
    page = visit.open("/masks", drawn=DRAWN)
    group_of(page, "Attention").get_by_role("button").click()
    for scheme in SCHEMES:
        turn(page, scheme)
        assert violations(page, ".st-key-header") == [], scheme
    page.set_viewport_size({"width": 390, "height": 844})
    menu(page).get_by_role("button", name="Menu").click()
    for scheme in SCHEMES:
        turn(page, scheme)
        assert violations(page, ".st-key-header") == [], scheme
