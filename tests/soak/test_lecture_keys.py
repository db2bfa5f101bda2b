"""Every step of every lecture: click anything, then Escape, then the key: the next step."""

import pytest

from tests.browser import Visit
from tests.browser.test_lecture_keys import CLICKS, click, forgive_late_answers, open_step, stays
from tfmviz.ui import lecture_steps

pytestmark = [pytest.mark.browser, pytest.mark.soak]


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
