"""Two views of a kind on one page, each on its own; and what a newcomer wants first: the head that links two words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser import Visit, free_port, saved, serve, tool


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    with serve(Path(__file__).parent / "two_explorers.py", free_port()) as server:
        visit = Visit(context.new_page(), server)
        yield visit.open("/")
        assert visit.complaints == []


def headline(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key} .headline strong")


def test_each_explorer_has_its_own_sentence_choice_and_reports(page: Page) -> None:
    for key, tokens in {"left": ["The", "river", "bank"], "right": ["The", "bank", "gave", "money"]}.items():
        expect(page.locator(f".st-key-{key} .column.key button")).to_have_text(tokens)
        expect(headline(page, key)).to_have_text("Layer 0, head 0")
    page.locator(".st-key-right .tiles").get_by_role("button", name="Layer 1, head 2").click()
    expect(page.get_by_text("right: layer 1, head 2, token None")).to_be_visible()
    expect(page.get_by_text("left: layer 0, head 0, token None")).to_be_visible()
    expect(headline(page, "left")).to_have_text("Layer 0, head 0")
    page.locator(".st-key-left .column.key button").nth(1).click()
    page.locator(".st-key-left .strip [data-position='2']").first.click()
    expect(page.get_by_text("left: layer 0, head 0, token 2")).to_be_visible()
    expect(headline(page, "right")).to_have_text("Layer 1, head 2")
    page.get_by_role("button", name="Move right").click()
    expect(headline(page, "right")).to_have_text("Layer 0, head 1")
    expect(headline(page, "left")).to_have_text("Layer 0, head 0")
    page.locator(".st-key-right .tiles").get_by_role("button", name="Layer 1, head 2").click()
    expect(page.get_by_text("right: layer 1, head 2, token None")).to_be_visible()  # again, since the page had moved on


def test_a_figures_bar_gives_values_and_the_whole_screen_and_the_keyboard_leaves_both(page: Page) -> None:
    tool(page.locator(".st-key-left"), "Values: As a matrix").focus()
    page.keyboard.press("Enter")
    table = page.locator(".st-key-left dialog table")
    expect(table.locator("tbody tr")).to_have_count(3)
    sums = [
        sum(map(float, filter(None, row.locator("td").all_inner_texts()))) for row in table.locator("tbody tr").all()
    ]
    assert sums == pytest.approx([1, 1, 1], abs=0.01)
    lines = saved(page.locator(".st-key-left dialog"), "CSV").decode().splitlines()
    assert lines[0] == "query,0 The,1 river,2 bank"
    assert lines[1].endswith(",1,,")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.values")).to_have_count(0)
    expect(page.locator(".st-key-left").get_by_role("button", name="More: As a matrix")).to_be_focused()
    screen = tool(page.locator(".st-key-left"), "Full screen: As a matrix")
    before = page.locator(".st-key-left .matrix-picture").bounding_box()
    screen.click()
    page.wait_for_function("document.fullscreenElement !== null")
    page.wait_for_function(
        "(width) => document.fullscreenElement.shadowRoot.querySelector('.matrix-picture').clientWidth > width",
        arg=(before or {"width": 0})["width"],
    )
    tool(page.locator(".st-key-left"), "Values: As a matrix")
    sizes = page.locator(".st-key-left .panel.matrix .tfmviz-bar button").evaluate_all(
        "nodes => nodes.map((node) => Math.min(node.offsetWidth, node.offsetHeight))"
    )
    assert min(sizes) >= 24
    page.evaluate("document.exitFullscreen()")  # as Escape does outside of a test
    page.wait_for_function("document.fullscreenElement === null")


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
