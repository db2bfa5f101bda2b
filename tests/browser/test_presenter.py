"""The presenter's window: it has the line, walks the class's window and is walked by it, and belongs to one lecture."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, expect

from tests.browser import Server, Visit
from tests.browser.test_lecture_keys import open_step
from tests.browser.test_lectures import at_rest
from tfmviz.ui import walks

KEYS = {"ArrowLeft": -1, "PageUp": -1, "ArrowRight": 1, "PageDown": 1}


@contextmanager
def presented(page: Page) -> Iterator[Page]:
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    window = opened.value
    try:
        yield window
    finally:
        window.close()


def shows(window: Page, name: str, number: int) -> None:
    """The presenter's window shows a step and the line after it."""
    steps = walks.walks()[0][name].steps
    expect(window.locator(".place")).to_contain_text(f"{number} of {len(steps)}")
    expect(window.locator(".say")).to_have_text(steps[number - 1].say)
    if number < len(steps):
        expect(window.locator(".next")).to_contain_text(steps[number].say)


def test_both_windows_are_at_the_same_step_whichever_walks(visit: Visit) -> None:
    page, number, chance = open_step(visit, "L3", 5), 5, random.Random(0)
    with presented(page) as window:
        shows(window, "L3", number)
        for _ in range(10):
            key = chance.choice(list(KEYS))
            number += KEYS[key]
            chance.choice((page, window)).keyboard.press(key)
            at_rest(page, "L3", number, said=False)
            shows(window, "L3", number)


def test_a_class_does_not_see_the_line_while_its_presenter_does(visit: Visit) -> None:
    page = open_step(visit, "L3", 5)
    line = page.locator(".walk .say")
    for crashes in (False, True):
        with presented(page) as window:
            shows(window, "L3", 5)
            expect(line).to_have_count(0)
            if crashes:  # it says no goodbye
                window.evaluate("() => addEventListener('pagehide', (event) => event.stopImmediatePropagation(), true)")
        expect(line).to_be_visible()


def test_each_presenter_has_one_lecture(visit: Visit, server: Server) -> None:
    page = open_step(visit, "L3", 5)
    other = page.context.new_page()
    try:
        open_step(Visit(other, server), "L2", 2)
        with presented(page) as of_page, presented(other) as of_other:
            shows(of_page, "L3", 5)
            of_page.keyboard.press("PageDown")
            shows(of_page, "L3", 6)
            shows(of_other, "L2", 2)
            of_other.keyboard.press("PageUp")
            shows(of_other, "L2", 1)
            shows(of_page, "L3", 6)
    finally:
        other.close()


def test_what_opens_no_presenters_window(visit: Visit) -> None:
    page = open_step(visit, "L3", 5)
    page.evaluate("() => { window.open = () => ((globalThis.asked = (globalThis.asked ?? 0) + 1), null); }")
    page.get_by_label("Your sentence").press("n")
    page.get_by_label("Your sentence").press("Escape")
    page.keyboard.press("Control+n")
    assert page.evaluate("globalThis.asked") is None
    page.keyboard.press("n")
    expect(page.locator(".walk [role=status]")).to_contain_text("Allow pop-ups")


def test_a_presenters_window_that_no_lecture_opened_says_what_it_waits_for(visit: Visit) -> None:
    page = visit.open("/lectures?presenter=1", drawn=".presenter")
    expect(page.get_by_role("status")).to_contain_text("press N")
