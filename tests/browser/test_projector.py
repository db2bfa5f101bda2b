"""Projector mode: one key, one line, the picture near the top, and it stays on from page to page."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser import Visit, box_of

LINE = 130
"""Pixels that the sentence and the choices may take, side by side or in two lines."""

POND = (
    "I walked along the pond, and noticed that one of the trees along the bank had fallen into the water "
    "after the storm."
)

SMALL = """() => {
    const all = (root) => [...root.querySelectorAll("*")]
        .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
    const small = all(document.querySelector("[data-testid=stMain]")).filter((node) => {
        const { visibility, fontSize } = getComputedStyle(node);
        const { width, height } = node.getBoundingClientRect();
        const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        return hasText && width > 1 && height > 1 && visibility === "visible" && parseFloat(fontSize) < 17.9
            && !node.matches("style, script, option");
    });
    return small.map((node) => node.outerHTML.slice(0, 100));
}"""
"""What is written on a page, but for its canvases, in letters smaller than 18 pixels."""


def expect_one_line(page: Page, *choices: str) -> None:
    """These choices end above `LINE`, once the page has found its shape."""
    page.wait_for_function(
        """([limit, ...names]) => names.every(name => {
            const box = document.querySelector(`.st-key-${name}`)?.getBoundingClientRect();
            return box && box.height && box.bottom < limit;
        })""",
        arg=[LINE, *choices],
    )


def test_f_fills_the_screen_and_brings_the_frame_back_and_a_question_mark_lists_the_keys(visit: Visit) -> None:
    """But where they are typed into the box."""
    page = visit.open("/explorer")
    page.wait_for_selector(".st-key-keys button", state="attached")
    sidebar, box, body = page.get_by_test_id("stSidebar"), page.get_by_label("Your sentence"), page.locator("body")
    listed = page.get_by_role("dialog", name="Keys")
    body.press("f")
    expect(sidebar).to_be_hidden()
    expect(page).to_have_url(re.compile("projector=1"))
    expect(page.locator("h1")).to_have_count(0)
    expect_one_line(page, "text", "models")
    body.press("f")
    expect(sidebar).to_be_visible()
    expect(page).not_to_have_url(re.compile("projector"))
    body.press("?")
    expect(listed).to_contain_text("projector mode")
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    box.fill("")
    box.press_sequentially("fluffy?")  # an odd number of them: an even one would bring back what it took
    expect(box).to_have_value("fluffy?")
    expect(sidebar).to_be_visible()
    expect(page.locator("dialog[open]")).to_have_count(0)


OVERLAPS = """(keys) => {
    const boxes = keys.map((key) => document.querySelector(`.st-key-${key}`).getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return keys.filter((_, n) => boxes.some((box, other) => other > n && meet(boxes[n], box)));
}"""

CUT = """() => [...document.querySelectorAll(".st-key-kind input[role=combobox]")]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.value)"""


def test_on_a_small_projector_no_choice_lies_under_another_and_menus_are_read_whole(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/step_by_step?projector=1&model=french-english", drawn=".st-key-kind")
    expect_one_line(page, "text", "models", "head")
    keys = ["text", "models", "kind", "layer", "head", "project", "guess"]
    assert page.evaluate(OVERLAPS, keys) == []
    assert page.evaluate(CUT) == []


def test_on_a_small_projector_a_long_sentence_is_wide_and_the_matrix_in_sight(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open(f"/explorer?projector=1&text={POND.replace(' ', '+')}", drawn=".matrix-picture canvas")
    for selector, least, lowest in ((".st-key-text", 500, 100), (".matrix-picture", 400, 560)):
        box = box_of(page.locator(selector).first)
        assert box["width"] > least
        assert box["y"] < lowest
