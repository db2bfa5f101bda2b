"""The map of heads under pointer and keyboard, and the way to it from the explorer."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import AT_REST, Visit

MAP = "/step_by_step?part=Find+a+head&model=induction&text=The+cat+sat+on+the+mat.&layer=1&head=0"
POINTS = ".heads .plot button"


def test_pointing_at_a_head_shows_it_and_a_click_goes_there(visit: Visit) -> None:
    page = visit.open(MAP, drawn=POINTS)
    name = page.locator(".heads .aside strong")
    expect(name).to_have_text("head 1.0")
    expect(page.locator(".heads canvas")).to_be_visible()
    point = page.get_by_role("button", name=re.compile(r"^head 0\.2\. previous"))
    point.hover()
    expect(name).to_have_text("head 0.2")
    page.mouse.move(2, 2)
    expect(name).to_have_text("head 1.0")
    point.click()
    expect(page).to_have_url(re.compile(r"&head=2$"))  # layer 0 is the usual one
    expect(page.get_by_text(re.compile(r"^Head 0\.2 gives"))).to_be_visible()


def test_the_keyboard_goes_from_head_to_head_by_their_place(visit: Visit) -> None:
    page = visit.open(MAP, drawn=POINTS)
    points = page.locator(POINTS)
    lefts = points.evaluate_all("all => all.map((node) => parseFloat(node.style.left))")
    ways = page.evaluate("""() => {
        const { axes: [{ low, high }], points } = globalThis.tfmvizViews.heads_map.view.data;
        return points.map(({ x }) => (x - low) / (high - low));
    }""")
    assert lefts == pytest.approx([100 * way for way in ways], abs=0.01)
    order = sorted(range(len(lefts)), key=lefts.__getitem__)
    page.locator(f"{POINTS}[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    expect(points.nth(order[order.index(4) - 1])).to_be_focused()  # head 1.0 is the fifth of all
    for _ in order:
        page.keyboard.press("ArrowLeft")
    expect(points.nth(order[0])).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"head={order[0] % 4}(&|$)"))


def test_the_explorer_leads_to_it(visit: Visit) -> None:
    """With the head that is open, also where it is the usual one."""
    page = visit.open("/explorer")
    page.get_by_text("What kind of head is this?").click()
    link = page.get_by_role("link", name="Compare it with all heads")
    link.click()
    expect(page.locator(".heads .aside strong")).to_have_text("head 3.2")
    page.wait_for_function(AT_REST)
    expect(page.locator(".heads .aside strong")).to_have_text("head 3.2")
