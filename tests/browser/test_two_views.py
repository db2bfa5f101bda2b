"""The explorer in its window: the bar of its figures, the head that links two words, and the last row in sight."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import Visit, box_of, saved, tool


def test_a_figures_bar_gives_values_and_the_whole_screen_and_the_keyboard_leaves_both(visit: Visit) -> None:
    page = visit.open("/explorer?text=The+river+bank")
    tool(page, "Values: As a matrix").focus()
    page.keyboard.press("Enter")
    rows = page.locator("dialog table tbody tr")
    expect(rows).to_have_count(3)
    sums = [sum(map(float, filter(None, row.locator("td").all_inner_texts()))) for row in rows.all()]
    assert sums == pytest.approx([1, 1, 1], abs=0.01)
    lines = saved(page.locator("dialog"), "CSV").decode().splitlines()
    assert lines[0] == "query,0 The,1 river,2 bank"
    assert lines[1].endswith(",1,,")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.values")).to_have_count(0)
    expect(page.get_by_role("button", name="More: As a matrix")).to_be_focused()
    before = box_of(page.locator(".matrix-picture"))
    tool(page, "Full screen: As a matrix").click()
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.wait_for_function(
        "(width) => document.fullscreenElement.shadowRoot.querySelector('.matrix-picture').clientWidth > width",
        arg=before["width"],
    )
    tool(page, "Values: As a matrix")
    sizes = page.locator(".panel.matrix .tfmviz-bar button").evaluate_all(
        "nodes => nodes.map((node) => Math.min(node.offsetWidth, node.offsetHeight))"
    )
    assert min(sizes) >= 24
    page.evaluate("document.exitFullscreen()")  # as Escape does outside of a test
    page.wait_for_function("() => document.fullscreenElement === null")


@pytest.mark.parametrize("width", [390, 1024])
def test_the_head_that_links_two_words_is_in_sight_once_both_are_chosen(visit: Visit) -> None:
    page = visit.open("/explorer")
    words = page.locator(".strip:visible button")
    words.filter(has_text="it").last.scroll_into_view_if_needed()
    words.nth(8).click()
    words.nth(1).click()
    best = page.get_by_role("group", name="Which head links two words?").get_by_role("button").first
    expect(best).to_be_in_viewport(ratio=1)
    best.click()
    expect(page.locator(".headline strong")).to_have_text("Layer 3, head 2")
    expect(page).to_have_url(re.compile("token=8.*to=1"))
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("to="))


@pytest.mark.parametrize("width", [1024, 1280])
def test_the_last_row_of_the_matrix_is_in_sight(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 768})
    page = visit.open("/explorer")
    expect(page.locator(".matrix-picture")).to_be_in_viewport(ratio=1)
    scrolls = "(node) => node.scrollHeight > node.clientHeight + 1"
    assert not page.locator(".matrix-picture").evaluate(scrolls)
    assert not page.locator(".headline").evaluate(scrolls)
