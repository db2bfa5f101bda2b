"""What only a browser shows of the page from windows to attention: clicks, widths, accessibility of every tab."""

import re

from playwright.sync_api import expect

from tests.browser import Visit, box_of

PAGE = "/ladder?text=The+boy+who+lived+by+the+river+was+very+happy."
DRAWN = "[data-testid=stMain] canvas, [data-testid=stMain] svg.marks"


def test_a_click_on_a_token_shows_what_was_expected_there(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=DRAWN)
    expect(page.get_by_text("What does each expect after")).not_to_contain_text("The text has")
    picture = page.locator(".st-key-surprise canvas").first
    box = box_of(picture)
    picture.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.5})
    expect(page.get_by_text("What does each expect after")).to_contain_text("The text has")
    expect(page).to_have_url(re.compile(r"[?&]token=\d"))


def test_times_are_measured_at_a_click(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&ladder=Why+recurrence+lost", drawn=DRAWN)
    page.get_by_role("button", name="Measure how long one layer takes").click()
    expect(page.get_by_text("One layer of width")).to_be_visible(timeout=90_000)
