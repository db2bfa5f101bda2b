"""The walks of the lectures in a browser: every figure in sight on a projector, and what the keys do."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import AT_REST, READY, Visit
from tests.browser.test_first_figure import INSIDE
from tests.pages.tabs import addresses
from tfmviz.ui import lecture_steps

IN_SIGHT = (
    "(scope) => {"
    + INSIDE
    + """
  const lower = innerHeight - (document.querySelector(".st-key-lecture")?.offsetHeight ?? 0);
  return inside(document.querySelector(scope))
    .filter((e) => e.matches("canvas, svg, table, [data-testid=stCode]"))
    .map((e) => e.getBoundingClientRect())
    .some((box) => box.width > 140 && box.height > 60 && box.top >= 0 && box.top + 100 < lower);
}"""
)
"""Whether a picture or table within an element begins in sight, and not only with its edge."""

OPEN_TAB = "[role=tabpanel]:not([hidden])"


def at_rest(page: Page, lecture: str, number: int, *, said: bool = True) -> None:
    """Waits until a step of a lecture is complete, and its line is `said` there."""
    step = lecture_steps.walks()[0][lecture].steps[number - 1]
    where = re.compile(rf"/{step.page}\?.*lecture={lecture}&step=({step.id}|{number})(&|$)")
    page.wait_for_url(where)
    page.wait_for_selector(READY)
    if said:
        expect(page.get_by_role("navigation", name="Lecture")).to_contain_text(f"{number} of ")
    expect(page.locator("[data-testid=stMain] [data-stale=true]")).to_have_count(0)
    page.wait_for_function(AT_REST)  # a page that opens is seen a moment after it stands
    expect(page).to_have_url(where)  # still, whatever came late


@pytest.mark.parametrize("name", ["L2", *(pytest.param(f"L{n}", marks=pytest.mark.soak) for n in (1, *range(3, 12)))])
def test_the_arrow_keys_walk_through_a_lecture_and_each_figure_is_in_sight(visit: Visit, name: str) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    walk = lecture_steps.walks()[0][name]
    page = visit.page
    page.goto(f"{visit.server.address}/{walk.address(1).removeprefix('./')}&projector=1")
    for number, step in enumerate(walk.steps, start=1):
        at_rest(page, name, number)
        expect(page.get_by_role("navigation", name="Lecture")).to_contain_text(step.say)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        for label, key in (("Your sentence", "text"), ("Model", "model")):
            if key in step.choices:
                expect(page.get_by_label(label).first).to_have_value(step.choices[key])
        has_tab = any(address.items() <= step.choices.items() for address in addresses(step.page) if address)
        scope = OPEN_TAB if has_tab else "[data-testid=stMain]"
        page.wait_for_selector(scope, state="attached")
        page.wait_for_function(IN_SIGHT, arg=scope)
        if number < len(walk.steps):
            page.keyboard.press("ArrowRight")


def test_the_free_arrows_walk_and_not_through_the_stages_and_the_line_has_links_too(visit: Visit) -> None:
    page = visit.open("/step_by_step?stage=plain&lecture=L3&step=4", drawn="[role=tablist]")
    at_rest(page, "L3", 4)
    page.keyboard.press("ArrowLeft")
    at_rest(page, "L3", 3)
    page.get_by_role("link", name="Next step").click()
    at_rest(page, "L3", 4)
    for chord in ("Control", "Meta", "Shift"):  # those of the browser and of the system
        page.keyboard.press(f"{chord}+ArrowRight")
    page.keyboard.press("ArrowRight")
    at_rest(page, "L3", 5)


def test_a_hostile_lecture_is_text(visit: Visit) -> None:
    page = visit.open("/masks?lecture=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", drawn="[data-testid=stAlert]")
    expect(page.get_by_test_id("stAlert").first).to_contain_text("There is no lecture <img src=x onerror=alert(1)>")


def test_the_list_leads_into_a_lecture(visit: Visit) -> None:
    page = visit.open("/lectures", drawn="[data-testid=stMain] h1")
    card = page.locator("section").filter(has_text=re.compile("^L4 "))
    expect(card.get_by_role("link", name="Start L4")).to_be_visible()
    card.locator("summary").click()
    card.locator("li").get_by_role("link", name=lecture_steps.walks()[0]["L4"].steps[0].say).click()
    at_rest(page, "L4", 1)
