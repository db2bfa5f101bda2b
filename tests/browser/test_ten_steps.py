"""What a lecture's steps speak of: one step of each by its own link, all of them as a class is walked through them."""

from __future__ import annotations

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser import Visit
from tests.browser.test_lectures import IN_SIGHT, at_rest
from tfmviz.ui import walks

pytestmark = pytest.mark.browser

SHOWN = """([key, ...names]) => {
  const found = tfmvizWhere(key, ...names);
  if (!found) return false;
  const upper = document.querySelector(".st-key-header")?.getBoundingClientRect().bottom ?? 0;
  const lower = document.querySelector(".st-key-lecture").getBoundingClientRect().top;
  const { left, top, width, height, letters } = found;
  const needed = names.length ? height : Math.min(height, 0.9 * (lower - upper));
  const drawn = Math.min(top + height, lower) - Math.max(top, upper);
  const isWide = left >= 0 && left + width <= innerWidth;
  return isWide && drawn >= needed - 1 && (!names.length || !letters || letters >= 12);
}"""
"""A part of a figure stands in the window above the line, in letters that can be read; a figure, or as much as fits."""


@pytest.mark.parametrize("name", walks.walks()[0])
def test_the_middle_step_of_a_lecture_opens_with_its_line_and_a_figure_in_sight(visit: Visit, name: str) -> None:
    walk = walks.walks()[0][name]
    number = 1 + len(walk.steps) // 2
    step, page = walk.steps[number - 1], visit.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{visit.server.address}/{walk.address(number).removeprefix('./')}")
    at_rest(page, name, number)
    line = page.get_by_role("navigation", name="Lecture")
    expect(line).to_contain_text(step.say)
    expect(line.get_by_role("link", name="Back in the lecture")).to_be_visible()
    expect(line.get_by_role("link", name="On in the lecture")).to_be_visible()
    expect(page.locator("[data-testid=stException], [data-testid=stAlertContentError]")).to_have_count(0)
    for title in step.choices.keys() & {"text", "model"}:
        label = {"text": "Your sentence", "model": "Model"}[title]
        expect(page.get_by_label(label).first).to_have_value(step.choices[title])
    page.wait_for_function(IN_SIGHT, arg="[data-testid=stMain]")
    page.wait_for_function(SHOWN, arg=list(step.show))


@pytest.mark.sweep
@pytest.mark.parametrize("name", walks.walks()[0])
def test_what_a_step_speaks_of_is_in_the_window(visit: Visit, name: str) -> None:
    walk, page, missed = walks.walks()[0][name], visit.page, []
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{visit.server.address}/{walk.address(1).removeprefix('./')}")
    for number, step in enumerate(walk.steps, start=1):
        at_rest(page, name, number)
        try:
            page.wait_for_function(SHOWN, arg=list(step.show), timeout=15_000)
        except TimeoutError:
            missed.append((number, step.show))
        if number < len(walk.steps):
            page.keyboard.press("ArrowRight")
    assert missed == []
