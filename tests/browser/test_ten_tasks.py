"""What a newcomer wants first, and how many clicks it may take. A task is a line in `TASKS` and a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import AT_REST, Visit, menu


class Newcomer:
    """Somebody at a page whose clicks are counted; Enter counts as one, letters do not."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.click()

    def enter(self, text: str) -> None:
        self.clicks += 1
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def find(self, text: str) -> None:
        """Asks the search, and takes the first answer."""
        self.click(self.page.get_by_role("button", name="Find"))
        expect(self.page.get_by_role("option").first).to_be_attached()
        self.enter(text)


def why_the_root(me: Newcomer) -> None:
    me.find("why √d")
    expect(me.page.get_by_role("tab", name="Why √d?")).to_have_attribute("aria-selected", "true")


def what_kneser_ney_is(me: Newcomer) -> None:
    me.find("Kneser-Ney")
    expect(me.page.get_by_role("heading", level=1)).to_have_text("Counting words")
    expect(me.page.get_by_role("combobox", name="Smoothing")).to_have_value("Kneser–Ney")


def share_a_view(me: Newcomer) -> None:
    me.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    me.click(me.page.get_by_role("button", name="Share"))
    expect(me.page.get_by_text("Copied")).to_be_visible()
    assert me.page.evaluate("navigator.clipboard.readText()") == me.page.url


def open_a_lecture(me: Newcomer) -> None:
    me.click(me.page.get_by_role("link", name="Give a lecture"))
    lecture = me.page.locator("section").filter(has_text="Self-attention").first
    me.click(lecture.get_by_role("link").first)
    expect(me.page.get_by_role("navigation", name="Lecture")).to_contain_text("1 of ")


def change_the_model(me: Newcomer) -> None:
    me.click(me.page.get_by_role("button", name="Model: Tiny English"))
    me.click(me.page.get_by_role("option", name="French to English"))
    expect(me.page.get_by_role("button", name="Model: French to English")).to_be_visible()


def go_on_in_the_course(me: Newcomer) -> None:
    me.click(me.page.get_by_role("link", name="Counting words →"))
    expect(me.page.get_by_role("heading", level=1)).to_have_text("Counting words")


def get_back_home(me: Newcomer) -> None:
    me.click(menu(me.page).get_by_role("link", name="tfmviz"))
    expect(me.page.get_by_role("heading", level=1)).to_have_text("tfmviz")


def open_masks_on_a_phone(me: Newcomer) -> None:
    me.click(menu(me.page).get_by_role("button", name="Menu"))
    me.click(menu(me.page).get_by_role("link", name="Masks"))
    expect(me.page.locator("h1")).to_have_text("Masks")
    expect(menu(me.page).get_by_role("link")).to_have_count(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What somebody wants, in how many clicks at most, and on which page and screen they begin."""

    done: Callable[[Newcomer], None]
    clicks: int
    begins: str = "/"
    screen: tuple[int, int] = (1280, 800)


PHONE = (390, 844)

TASKS = {
    "find why √d": Task(done=why_the_root, clicks=2),
    "find what Kneser-Ney is": Task(done=what_kneser_ney_is, clicks=2),
    "share a view": Task(done=share_a_view, clicks=1, begins="/explorer"),
    "open a lecture": Task(done=open_a_lecture, clicks=2),
    "change the model by its name": Task(done=change_the_model, clicks=2, begins="/explorer"),
    "go on to the next page of the course": Task(done=go_on_in_the_course, clicks=1, begins="/tokens"),
    "get back home": Task(done=get_back_home, clicks=1, begins="/masks"),
    "open the page on masks on a phone": Task(done=open_masks_on_a_phone, clicks=3, screen=PHONE),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_a_newcomer_gets_there_in_few_clicks(visit: Visit, task: Task) -> None:
    visit.page.set_viewport_size({"width": task.screen[0], "height": task.screen[1]})
    page = visit.open(task.begins, drawn="[data-testid=stMain] h1")
    page.wait_for_selector(".st-key-find button")
    page.wait_for_function(AT_REST)
    me = Newcomer(page)
    task.done(me)
    assert me.clicks <= task.clicks
