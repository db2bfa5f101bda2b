"""The walks of the lectures: what a step speaks of, by its own link and as a class is walked there; line and list."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser import AT_REST, READY, Visit
from tfmviz.ui import lecture_steps

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, ViewportSize

pytestmark = pytest.mark.browser

IS_SHOWN = "(what) => looks.isShown(what)"

SMALL, FAR = 12, 18  # pixels of the smallest letters, on a screen and on a projector

READABLE = 3  # contrast of ink against its ground


LARGE: ViewportSize = {"width": 1280, "height": 800}
NAMES = list(lecture_steps.walks()[0])


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


def expect_line(page: Page, name: str, number: int) -> None:
    """A step is complete, with its line and what it names, and nothing went wrong."""
    step = lecture_steps.walks()[0][name].steps[number - 1]
    at_rest(page, name, number)
    expect(page.get_by_role("navigation", name="Lecture")).to_contain_text(step.say)
    expect(page.locator("[data-testid=stException], [data-testid=stAlertContentError]")).to_have_count(0)
    for key, label in (("text", "Your sentence"), ("model", "Model")):
        if key in step.choices:
            expect(page.get_by_label(label).first).to_have_value(step.choices[key])


@pytest.mark.parametrize("name", NAMES)
def test_the_middle_step_of_a_lecture_opens_with_its_line_and_a_figure_in_sight(visit: Visit, name: str) -> None:
    walk, page = lecture_steps.walks()[0][name], visit.page
    number = 1 + len(walk.steps) // 2
    page.set_viewport_size(LARGE)
    page.goto(f"{visit.server.address}/{walk.address(number).removeprefix('./')}")
    expect_line(page, name, number)
    for way in ("Previous step", "Next step"):
        expect(page.get_by_role("navigation", name="Lecture").get_by_role("link", name=way)).to_be_visible()
    page.wait_for_function(IS_SHOWN, arg=[SMALL, *walk.steps[number - 1].show])


@pytest.mark.parametrize(
    ("name", "width", "more"),
    [
        ("L2", 1280, "&projector=1"),
        *(pytest.param(name, 1280, "", marks=pytest.mark.sweep) for name in NAMES),
        *(pytest.param(name, 1280, "&projector=1", marks=pytest.mark.soak) for name in NAMES if name != "L2"),
        *(pytest.param(name, 1024, more, marks=pytest.mark.soak) for name in NAMES for more in ("", "&projector=1")),
    ],
)
def test_the_arrow_keys_walk_through_a_lecture_and_what_a_step_speaks_of_is_in_the_window(
    visit: Visit, name: str, width: int, more: str
) -> None:
    assert missed(visit, name, LARGE if width == LARGE["width"] else {"width": 1024, "height": 768}, more) == []


def missed(visit: Visit, name: str, size: ViewportSize, more: str) -> list[tuple[str, object]]:
    """The steps of a lecture whose figure or part is not in a window of this size, or too pale there."""
    walk, page = lecture_steps.walks()[0][name], visit.page
    found: list[tuple[str, object]] = []
    page.set_viewport_size(size)
    page.goto(f"{visit.server.address}/{walk.address(1).removeprefix('./')}{more}")
    for number, step in enumerate(walk.steps, start=1):
        expect_line(page, name, number)
        try:
            page.wait_for_function(
                "(what) => looks.isShown(what)", arg=[FAR if more else SMALL, *step.show], timeout=15_000
            )
            if step.show[1:] and (contrast := _contrast(page, step.show)) < READABLE:
                found.append((step.id, contrast))
        except TimeoutError:
            found.append((step.id, step.show))
        if number < len(walk.steps):
            page.keyboard.press("ArrowRight")
    return found


def _contrast(page: Page, show: Sequence[str]) -> float:
    """Of the strongest ink in a part with letters against its ground (WCAG 2); of one without letters infinite."""
    where, drawn = "([key, ...names]) => tfmvizWhere(key, ...names)", b""
    box: dict[str, float] = {}
    while box != (now := page.evaluate(where, list(show))):  # else it was scrolled meanwhile
        box = now
        if not box["letters"]:
            return math.inf
        clip: FloatRect = {"x": box["left"], "y": box["top"], "width": box["width"], "height": box["height"]}
        drawn = page.screenshot(clip=clip)
    with Image.open(io.BytesIO(drawn)) as picture:
        part = np.asarray(picture.convert("RGB")) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    bright = linear @ [0.2126, 0.7152, 0.0722]
    return float((bright.max() + 0.05) / (bright.min() + 0.05))


def test_the_list_leads_into_a_lecture(visit: Visit) -> None:
    page = visit.open("/lectures", drawn="[data-testid=stMain] h1")
    card = page.locator("section").filter(has_text=re.compile("^L4 "))
    expect(card.get_by_role("link", name="Start L4")).to_be_visible()
    card.locator("summary").click()
    card.locator("li").get_by_role("link", name=lecture_steps.walks()[0]["L4"].steps[0].say).click()
    at_rest(page, "L4", 1)
