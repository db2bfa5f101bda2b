"""Ten things that a newcomer wants, each a function that says in how many clicks at most, from home or elsewhere."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser import Visit
from tests.cases import each


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


SENTENCE = "My sister feeds the neighbourhood hedgehogs."
IN_MAIN = "[data-testid=stMain]"

Task = Callable[[Newcomer], None]
TASKS: dict[str, tuple[Task, int, str]] = {}
"""By their names: what somebody does, in how many clicks at most, and where they begin."""


def within(clicks: int, *, begins: str = "/") -> Callable[[Task], Task]:
    def listed(task: Task) -> Task:
        TASKS[task.__name__.replace("_", " ")] = (task, clicks, begins)
        return task

    return listed


def door(me: Newcomer, title: str) -> None:
    """One of home's six."""
    me.click(me.page.locator(".doors a", has_text=title))


@within(3)
def what_it_refers_to(me: Newcomer) -> None:
    """The page says that one head is not the answer."""
    door(me, "All heads")
    me.click(me.page.locator(".strip button", has_text="animal").first)
    expect(me.page.locator(".pair")).to_contain_text("Several heads")


@within(2)
def which_head_links_two_words(me: Newcomer) -> None:
    door(me, "All heads")
    me.click(me.page.locator(".strip button", has_text="animal").first)
    expect(me.page.locator(".pair button:visible").first).to_have_text("layer 3, head 2 0.89")


@within(2)
def why_the_root(me: Newcomer) -> None:
    me.find("why √d")
    expect(me.page.get_by_role("tab", name="Why √d?")).to_have_attribute("aria-selected", "true")


@within(2)
def hide_a_word(me: Newcomer) -> None:
    door(me, "A mask being painted")
    me.click(me.page.locator(".lab .sentence button", has_text="animal"))
    expect(me.page.locator(IN_MAIN).get_by_text(re.compile("in A.*in B")).first).to_be_visible()


@within(3)
def one_changed_word(me: Newcomer) -> None:
    """A difference is seen."""
    me.find("one changed word")
    difference = "Math.max(...tfmvizViews.side_difference.view.picture.values.filter(isFinite).map(Math.abs))"
    me.page.wait_for_function(f"() => globalThis.tfmvizViews?.side_difference?.view?.picture && {difference} > 0.1")


@within(2, begins=f"/?text={SENTENCE.replace(' ', '+')}")
def two_position_schemes_on_my_sentence(me: Newcomer) -> None:
    """A sentence says that these models cut words into shorter pieces."""
    me.find("sinusoidal beside RoPE")
    expect(me.page.locator(".st-key-text textarea")).to_have_value(SENTENCE)
    expect(me.page.get_by_text(re.compile(r"split your sentence into \d+ tokens"))).to_be_visible()


@within(2)
def norms_that_grow(me: Newcomer) -> None:
    me.find("norms that grow")
    expect(me.page.get_by_role("tab", name="Lengths")).to_have_attribute("aria-selected", "true")
    expect(me.page.locator(IN_MAIN).get_by_text(re.compile("norm", re.IGNORECASE)).first).to_be_visible()


@within(3)
def a_head_switched_off(me: Newcomer) -> None:
    me.find("switch off a head")
    me.click(me.page.locator("[data-code='d3.2']"))
    expect(me.page.get_by_text(re.compile(r"3\.2 off")).first).to_be_visible()


@within(3)
def what_a_neuron_does(me: Newcomer) -> None:
    """In words: no byte."""
    me.find("what a neuron does")
    chart = me.page.locator(".st-key-directions svg.marks")
    expect(chart).to_be_visible()
    expect(chart).not_to_contain_text("[")


@within(1)
def share_every_page(me: Newcomer) -> None:
    me.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    me.click(me.page.get_by_role("button", name="Share"))
    said = me.page.get_by_role("status").filter(has_text="Copied")
    expect(said).to_be_visible()
    expect(me.page).to_have_url(me.page.evaluate("navigator.clipboard.readText()"))
    expect(said).to_have_count(0)


@each("task, clicks, begins", TASKS)
def test_a_newcomer_gets_there_in_few_clicks(visit: Visit, task: Task, clicks: int, begins: str) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    page = visit.open(begins, drawn="[data-testid=stMain] h1")
    page.wait_for_selector(".st-key-find button")
    me = Newcomer(page)
    task(me)
    assert me.clicks <= clicks
