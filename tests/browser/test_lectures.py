"""The walks of the lectures in a browser: their line, their links and their list."""

import re

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, READY, Visit
from tfmviz.ui import lecture_steps


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


def test_the_list_leads_into_a_lecture(visit: Visit) -> None:
    page = visit.open("/lectures", drawn="[data-testid=stMain] h1")
    card = page.locator("section").filter(has_text=re.compile("^L4 "))
    expect(card.get_by_role("link", name="Start L4")).to_be_visible()
    card.locator("summary").click()
    card.locator("li").get_by_role("link", name=lecture_steps.walks()[0]["L4"].steps[0].say).click()
    at_rest(page, "L4", 1)
