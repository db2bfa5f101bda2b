"""The open tab in the browser: in sight when an address names it, and nothing moves at a later choice."""

import pytest
from playwright.sync_api import expect

from tests.browser import AT_REST, Visit, open_tab

SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"

IN_SIGHT = """() => {
  const tab = document.querySelector(".stTabs [role=tab][aria-selected=true]");
  const [box, strip] = [tab, tab.parentElement].map((node) => node.getBoundingClientRect());
  return box.top >= 0 && box.top < innerHeight / 2 && box.left >= strip.left - 1 && box.right <= strip.right + 1;
}"""
"""The open tab is in the upper half of the window and in the strip of tabs."""


def test_a_tab_below_the_figures_comes_into_sight_if_the_address_names_it_and_a_later_choice_moves_nothing(
    visit: Visit,
) -> None:
    page = visit.open("/writing?text=The+cat+sat&behind=Repetition", drawn=".stTabs [role=tab]")
    page.wait_for_function(IN_SIGHT)
    before = page.evaluate(SCROLLED)
    assert before > 0
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -before)
    page.wait_for_function(f"() => {SCROLLED} === 0")
    page.evaluate("document.querySelectorAll('.stTabs [role=tab]')[1].focus({ preventScroll: true })")
    page.keyboard.press("Enter")
    page.wait_for_function("() => /behind=Keyboard/.test(location.href)")
    page.wait_for_function(AT_REST)
    page.wait_for_timeout(500)  # it would have looked five times
    assert page.evaluate(SCROLLED) == 0
    page = visit.open("/writing?text=The+cat+sat", drawn=".stTabs [role=tab]")
    page.wait_for_timeout(500)
    assert page.evaluate(SCROLLED) == 0


def test_the_quiz_asks_beside_its_picture(visit: Visit) -> None:
    page = visit.open("/masks?text=The+cat+sat+on+the+mat.&effect=Quiz", drawn=".st-key-riddle canvas")
    boxes = page.locator("[role=tabpanel] [data-testid=stExpander]").all()
    assert len(boxes) == 3
    picture = page.locator(".st-key-riddle canvas").bounding_box()
    for box in (expander.bounding_box() for expander in boxes):
        assert box is not None
        assert picture is not None
        assert box["y"] + box["height"] <= 800
        assert box["x"] >= picture["x"] + picture["width"]


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_the_open_tab_the_names_of_switches_and_the_last_column_are_whole(visit: Visit) -> None:
    page = visit.open("/tokens?text=The+cat+sat&tokens=Neighbours", drawn=".stTabs [role=tab]")
    page.wait_for_function(IN_SIGHT)
    page = visit.open("/positions?text=The+cat+sat&lesson=Sinusoidal&wave=On+real+words", drawn=".stCheckbox")
    cut = "() => [...document.querySelectorAll('.stCheckbox p')].every((p) => p.scrollWidth <= p.clientWidth)"
    page.wait_for_function(cut)
    page = visit.open("/masks?text=The+cat+sat&effect=Kinds", drawn=".stTable")
    fits = "() => [...document.querySelectorAll('.stTable table')].every((t) => t.getBoundingClientRect().right <= 391)"
    page.wait_for_function(fits)


def test_measurements_stand_without_the_controls_that_they_do_not_read(visit: Visit) -> None:
    page = visit.open("/bottleneck?seen=Measured", drawn=".stVegaLiteChart svg, .stVegaLiteChart canvas")
    controls = page.get_by_role("button", name="From the start")
    expect(controls).not_to_be_visible()
    open_tab(page, "Alignments")
    expect(controls).to_be_visible()
