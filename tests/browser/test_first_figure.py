"""Where the first figure of a page begins, and how large its letters are; `test_every_page` asks it of every tab."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser import AT_REST, WRITTEN, Visit, open_place, project
from tests.pages.tabs import Address, addresses
from tfmviz.ui.router import PAGES

HIGHEST = dict.fromkeys((page.name for page in PAGES if page.group), 260) | dict.fromkeys(
    (
        *("counting", "explorer", "feed_forward", "ladder", "recipe", "residual_stream"),
        *("step_by_step", "switch_off", "tokens", "training", "whole_model", "writing"),
    ),
    210,
)
"""Pixels from the top of the window to the first figure, at 1280 × 800. The other pages have a line of controls."""

HIGHEST_ON_A_PROJECTOR, BELOW_TWO_LINES = 240, 300
"""The same of every tab, on a projector. Pages on translators have two lines of choices."""

SMALLEST = 18
"""Pixels of the smallest letters in a figure on a projector."""

POND = (
    "I walked along the pond, and noticed that one of the trees along the bank had fallen into the water after the "
    "storm."
)
"""A lecture's longest sentence: 26 tokens."""

LINES = "[class*=st-key-line-]:not(.st-key-line-choices)"
"""Lines of controls, but that of model, layer and head."""

ON_A_PHONE = dict.fromkeys(("positions", "residual_stream", "normalisation"), "figureBeforeControls") | dict.fromkeys(
    ("bottleneck", "counting", "positions_compare", "switch_off"), "controlsBeforeFigure"
)

COMPLETE = f"""() => ({AT_REST})()
    && [...document.querySelectorAll("[role=tabpanel]")].every(
      (panel) => !panel.checkVisibility() || panel.querySelector("[data-testid^=stBidi], canvas, svg, table, pre, p"))
    && [...document.querySelectorAll(".stVegaLiteChart")].every((chart) => chart.querySelector("svg.marks text"))"""
"""Nothing runs, the open tabs hold something, and every chart has its letters."""


def go(visit: Visit, page: str, address: Address) -> Page:
    opened = visit.open(f"/{page}?{urlencode(address)}", drawn="[role=tablist]")
    opened.wait_for_function(COMPLETE)
    return opened


def each_tab(page: Page, name: str) -> Iterator[str]:
    """Opens every tab of a page that is open at its first one, one after the other."""
    for number, address in enumerate(addresses(name)):
        if number:
            open_place(page, address)
            page.wait_for_function(COMPLETE)
        yield " / ".join(address.values())


def expect_figure_above(page: Page, limit: int, *, what: str) -> None:
    """Waits until the first figure begins above a limit."""
    try:
        page.wait_for_function("(limit) => looks.first() !== null && looks.first() <= limit", arg=limit)
    except Error as error:
        raise AssertionError(
            f"{what}: the first figure begins at {page.evaluate('looks.first()')}, not above {limit}"
        ) from error


@pytest.mark.parametrize("name", ["explorer", "step_by_step", "masks", "whole_model"])
def test_a_long_sentence_has_large_letters_too(visit: Visit, name: str) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    with visit.page.add_init_script(path=WRITTEN):
        page = go(visit, name, {"text": POND, "projector": "1"})
    page.wait_for_function("() => looks.first() !== null")
    assert page.evaluate("(least) => looks.small(least)", SMALLEST) == {}


def test_on_a_phone_a_tab_says_above_its_figure_what_it_is_about(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    for name in ("training", "why", "normalisation"):
        page = go(visit, name, {})
        words = page.get_by_role("tabpanel").locator(".stMarkdown").first.bounding_box()
        assert words, name
        assert words["y"] + words["height"] <= page.evaluate("looks.first()"), name


def test_the_sentence_is_whole_in_its_box(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    page = go(visit, "masks", {"text": POND})
    box = page.get_by_label("Your sentence")
    whole = "(box) => box.scrollHeight <= box.clientHeight + 1"
    expect(box).to_have_value(POND)
    page.wait_for_function(whole, arg=box.element_handle())
    project(page)
    expect(box).to_have_value(POND)
    page.wait_for_function(whole, arg=box.element_handle())


def test_enter_ends_the_sentence_and_pasted_lines_are_one_text(visit: Visit) -> None:
    page = go(visit, "whole_model", {})
    box = page.get_by_label("Your sentence")
    box.fill("Two lines,\none sentence")
    box.press("Enter")
    expect(page).to_have_url(re.compile("Two.lines"))
    expect(page.locator("[data-testid=stMain] [data-stale=true]")).to_have_count(0)
    expect(box).to_have_value("Two lines,\none sentence")
