"""One step of each lecture by its own link, as somebody would open it who is sent there."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import Visit
from tests.browser.test_lectures import IN_SIGHT, at_rest
from tfmviz.ui import walks

pytestmark = pytest.mark.browser


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
