"""Every step of every lecture: click anything, then Escape, then a key: the next step, or the one before."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser import Visit
from tests.browser.test_lecture_keys import CLICKS, click, open_step
from tests.browser.test_lectures import at_rest
from tfmviz.ui import walks

pytestmark = [pytest.mark.browser, pytest.mark.soak]


@pytest.mark.parametrize("name", walks.walks()[0])
def test_the_keys_walk_on_and_back_from_every_step_whatever_was_clicked(visit: Visit, name: str) -> None:
    page = open_step(visit, name, 1)
    last = len(walks.walks()[0][name].steps)
    for first in range(1, last, 2):
        _between(page, name, first)
        for number in range(first + 1, min(first + 2, last) + 1):
            page.keyboard.press("ArrowRight")
            at_rest(page, name, number)


def _between(page: Page, name: str, first: int) -> None:
    """From a step to the next and back, each time after a click on something else, until all was clicked on both."""
    left = {number: [*CLICKS, "blank"] for number in (first, first + 1)}
    here, there = first, first + 1
    while any(left.values()) or here != first:
        while left[here] and not click(page, left[here].pop()):
            pass
        page.keyboard.press("Escape")
        on, back = ("ArrowRight", "ArrowLeft") if len(left[here]) % 2 else ("PageDown", "PageUp")
        page.keyboard.press(on if here == first else back)
        at_rest(page, name, there)
        here, there = there, here
