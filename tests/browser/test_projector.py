"""Projector mode: one key, one line, the picture near the top, and it stays on from page to page."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Visit

pytestmark = pytest.mark.browser

LINE = 110
"""Pixels that the one line of choices may take."""


def expect_one_line(page: Page, *choices: str) -> None:
    """The sentence and these choices end above `LINE`, once the page has found its shape."""
    page.wait_for_function(
        """([limit, ...names]) => names.every(name => {
            const box = document.querySelector(`.st-key-${name}`)?.getBoundingClientRect();
            return box && box.height && box.bottom < limit;
        })""",
        arg=[LINE, "text", *choices],
    )


def test_f_fills_the_screen_and_brings_the_frame_back(visit: Visit) -> None:
    page = visit.open("/")
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_be_visible()
    page.locator("body").press("f")
    expect(sidebar).to_be_hidden()
    expect(page).to_have_url(re.compile("projector=1"))
    expect(page.locator("h1")).to_have_count(0)
    expect_one_line(page, "model", "head")
    page.locator("body").press("f")
    expect(sidebar).to_be_visible()
    expect(page).not_to_have_url(re.compile("projector"))


def test_no_choice_lies_under_another_where_a_model_has_several_kinds_of_attention(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/translating?projector=1", drawn=".st-key-kind")
    expect_one_line(page, "model", "head")
    keys = ["text", "model", "kind", "layer label", "layer .stSlider > :last-child", "head label"]
    keys += ["head .stSlider > :last-child", "project"]
    found = [page.locator(f".st-key-{key}").first.bounding_box() for key in keys]
    boxes = [(box["x"], box["x"] + box["width"]) for box in found if box]
    assert len(boxes) == len(keys)
    assert all(end <= start for (_, end), (start, _) in pairwise(boxes))


def test_typing_an_f_is_typing(visit: Visit) -> None:
    page = visit.open("/")
    box = page.get_by_label("Your sentence")
    box.fill("")
    box.press_sequentially("fluffy?")
    expect(box).to_have_value("fluffy?")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_question_mark_lists_the_keys_and_escape_closes_the_list(visit: Visit) -> None:
    page = visit.open("/")
    page.wait_for_selector(".st-key-keys button", state="attached")
    page.locator("body").press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("projector mode")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
