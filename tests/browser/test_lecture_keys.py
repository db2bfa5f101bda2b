"""Whatever was clicked in a lecture, its keys walk on, but for what somebody types in or has reached by Tab."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser import TURN, Server, Visit, choose
from tests.browser.test_find import ask
from tests.browser.test_ten_steps import at_rest
from tfmviz.ui import lecture_steps

MAIN = "[data-testid=stMain]"

CLICKS = {
    "sentence": f"{MAIN} textarea",
    "menu": f"{MAIN} [role=combobox]",
    "number": ":is(.stSlider, [data-testid=stNumberInputStepUp])",
    "tab": "[role=tab]",
    "token": f"{MAIN} button[data-position]",
    "figure": f"{MAIN} :is(canvas, svg.marks)",
    "button": f"{MAIN} .view button:not([data-position], [aria-keyshortcuts])",
    "more": f"{MAIN} summary",
}
"""What can be clicked, beside an empty place; not every page has all of it."""

FOCUSED = """() => {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return node.tagName;
}"""


def click(page: Page, what: str) -> bool:
    """Clicks the first thing of a kind as a mouse does; returns whether there is one."""
    if what == "blank":
        page.mouse.click(page.viewport_size["width"] - 8, 400)  # type: ignore[index]  # it has a size
        return True
    found = page.locator(CLICKS[what]).locator("visible=true")
    if not found.count():
        return False
    box = found.first.evaluate(
        """(node) => {
            node.scrollIntoView({ block: "center" });
            const { x, y, width, height } = node.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
        }"""
    )
    page.mouse.click(*box)
    return True


def forgive_late_answers(visit: Visit) -> None:
    """Errors of Streamlit's, after which the page is loaded anew (`views/shared/server.ts`), are no complaints."""
    visit.complaints[:] = [complaint for complaint in visit.complaints if "delta path" not in complaint]


def stays(page: Page, name: str, number: int) -> None:
    """Waits until a step is complete and nothing that is asked or answered late changes that any more."""
    at_rest(page, name, number)
    page.wait_for_timeout(700)  # the walk looks for half a second before it asks for a step again
    at_rest(page, name, number)


def open_step(visit: Visit, name: str, number: int) -> Page:
    address = lecture_steps.walks()[0][name].address(number).removeprefix(".")
    page = visit.open(address, drawn="nav.walk")
    at_rest(page, name, number)
    return page


def test_the_keys_walk_on_whatever_was_clicked(visit: Visit) -> None:
    page = open_step(visit, "L3", 2)
    page.evaluate("() => { document.body.onpointerdown = (event) => event.stopPropagation(); }")  # as menus do
    seen = []
    for n, what in enumerate([*CLICKS, "blank"], start=2):
        if click(page, what):
            seen.append(what)
        if what == "sentence":
            page.keyboard.press("ArrowRight")  # moves the cursor
        if what in ("sentence", "menu"):
            page.keyboard.press("Escape")
        page.keyboard.press(("ArrowRight", "PageDown")[n % 2])
        stays(page, "L3", n + 1)
    assert {"sentence", "menu", "number", "tab", "token", "figure", "blank"} <= set(seen), seen
    page.keyboard.press("PageUp")
    at_rest(page, "L3", n)
    page.keyboard.press("ArrowLeft")
    at_rest(page, "L3", n - 1)


def test_what_is_reached_by_tab_has_the_keys_until_escape_but_a_pressed_button_leaves_them_to_the_lecture(
    visit: Visit,
) -> None:
    page = visit.open("/step_by_step?stage=share&lecture=L3&step=4", drawn=".focus canvas")
    at_rest(page, "L3", 4)
    before = page.locator(".why h2").inner_text()
    page.locator(".focus canvas[data-matrix=share]").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".why h2")).not_to_have_text(before)
    page.keyboard.press("End")  # nobody uses it
    expect(page).to_have_url(re.compile("step=4"))
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUSED) == "BODY"
    for chord in ("Control", "Meta", "Shift"):  # those of the browser and of the system
        page.keyboard.press(f"{chord}+ArrowRight")
    page.keyboard.press("ArrowLeft")
    at_rest(page, "L3", 3)
    page.get_by_role("link", name="Next step").click()
    at_rest(page, "L3", 4)
    page.get_by_role("button", name="Next →").press("Enter")
    page.keyboard.press("ArrowRight")
    at_rest(page, "L3", 5)


def test_after_a_page_that_no_answer_reaches_or_a_late_answer_the_lecture_goes_on(visit: Visit) -> None:
    page = open_step(visit, "L3", 2)
    assert click(page, "more")
    page.keyboard.press("ArrowRight")
    at_rest(page, "L3", 3)
    expect(page.get_by_label("Your sentence")).to_have_count(1)
    forgive_late_answers(visit)
    with page.expect_navigation():
        page.evaluate(
            """() => {
                globalThis.isOld = true;
                setTimeout(() => Promise.reject(new Error("Bad delta path index 1 (should be between [0, 0])")));
            }"""
        )
    at_rest(page, "L3", 3)
    assert page.evaluate("globalThis.isOld") is None
    forgive_late_answers(visit)


def test_a_step_is_taken_though_a_click_before_it_goes_back_to_where_it_was(visit: Visit) -> None:
    page = open_step(visit, "L3", 10)
    for late in ("step_by_step?step=closed&lecture=L3", "step_by_step?lecture=L3&step=softmax"):
        page.keyboard.press("ArrowRight")
        page.evaluate(TURN, late)  # as Streamlit does with a click that is answered, or even told, only now
        stays(page, "L3", 11)
        page.keyboard.press("ArrowLeft")
        stays(page, "L3", 10)
    page.keyboard.press("ArrowRight")
    page.go_back()
    page.wait_for_timeout(1_000)  # it would insist until then
    at_rest(page, "L3", 10)


def test_who_goes_elsewhere_just_after_a_step_stays_there(visit: Visit) -> None:
    page = open_step(visit, "L3", 10)
    page.keyboard.press("ArrowRight")
    at_rest(page, "L3", 11)
    say = lecture_steps.walks()[0]["L3"].steps[12].say
    ask(page, say)
    page.get_by_role("option").filter(has_text=say).first.click()
    at_rest(page, "L3", 13)
    page.wait_for_timeout(1_000)  # it would insist until then
    at_rest(page, "L3", 13)
    page.get_by_role("link", name="Step by step").first.click()
    elsewhere = re.compile(r"/step_by_step(?!.*lecture)")
    page.wait_for_url(elsewhere)
    page.wait_for_timeout(1_000)
    expect(page).to_have_url(elsewhere)


def test_who_has_typed_or_chosen_walks_on(visit: Visit) -> None:
    page = open_step(visit, "L3", 4)
    visit.enter("The dog saw a cat.")
    page.keyboard.press("ArrowRight")
    at_rest(page, "L3", 5)
    choose(page, "Example sentences", re.compile("^I went"))
    page.keyboard.press("PageDown")
    at_rest(page, "L3", 6)


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
    steps = lecture_steps.walks()[0][name].steps
    expect(window.locator(".place")).to_contain_text(f"{number} of {len(steps)}")
    expect(window.locator(".say")).to_have_text(steps[number - 1].say)
    if number < len(steps):
        expect(window.locator(".next")).to_contain_text(steps[number].say)


def test_both_windows_are_at_the_same_step_and_a_class_sees_no_line(visit: Visit) -> None:
    page, number, chance = open_step(visit, "L3", 5), 5, random.Random(0)
    line = page.locator(".walk .say")
    with presented(page) as window:
        shows(window, "L3", number)
        for _ in range(10):
            key = chance.choice(list(KEYS))
            number += KEYS[key]
            chance.choice((page, window)).keyboard.press(key)
            at_rest(page, "L3", number, said=False)
            shows(window, "L3", number)
        expect(line).to_have_count(0)  # the class does not see it while its presenter does
    expect(line).to_be_visible()
    with presented(page) as window:
        shows(window, "L3", number)
        expect(line).to_have_count(0)
        window.evaluate("() => addEventListener('pagehide', (event) => event.stopImmediatePropagation(), true)")
    expect(line).to_be_visible()  # though the window said no goodbye
    page.evaluate("() => { window.open = () => ((globalThis.asked = (globalThis.asked ?? 0) + 1), null); }")
    page.get_by_label("Your sentence").press("n")
    page.get_by_label("Your sentence").press("Escape")
    page.keyboard.press("Control+n")
    assert page.evaluate("globalThis.asked") is None, "a typed n and a chord open nothing"
    page.keyboard.press("n")
    expect(page.locator(".walk [role=status]")).to_contain_text("Allow pop-ups")


def test_each_presenter_has_one_lecture_and_a_window_that_none_opened_says_so(visit: Visit, server: Server) -> None:
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
    page = visit.open("/lectures?presenter=1", drawn=".presenter")
    expect(page.get_by_role("status")).to_contain_text("press N")


@pytest.mark.soak
@pytest.mark.parametrize("name", lecture_steps.walks()[0])
def test_the_keys_walk_on_from_every_step_whatever_was_clicked(visit: Visit, name: str) -> None:
    walk = lecture_steps.walks()[0][name]
    page = open_step(visit, name, 1)
    for number in range(1, len(walk.steps)):
        for n, what in enumerate([*CLICKS, "blank"]):
            if not click(page, what):
                continue
            page.keyboard.press("Escape")
            page.keyboard.press(("ArrowRight", "PageDown")[n % 2])
            stays(page, name, number + 1)
            page.keyboard.press("ArrowLeft")
            stays(page, name, number)
        page.keyboard.press("ArrowRight")
        stays(page, name, number + 1)
    forgive_late_answers(visit)
