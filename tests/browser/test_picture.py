"""The board on which digits are drawn: pointer, finger, keys, the address, and both looks."""

import re

from playwright.sync_api import Page, expect

from tests.browser import Visit, box_of

PAGE, DRAWN = "/positions?lesson=Not+only+words", ".drawing canvas"


def stroke(page: Page, *cells: tuple[int, int]) -> None:
    """Draws through cells, (row, column) each."""
    box = box_of(page.locator(DRAWN))
    size = (box["width"] - 4) / 8
    for n, (row, column) in enumerate(cells):
        page.mouse.move(box["x"] + 2 + (column + 0.5) * size, box["y"] + 2 + (row + 0.5) * size)
        if n == 0:
            page.mouse.down()
    page.mouse.up()


def test_a_digit_is_drawn_read_rubbed_out_and_kept_in_the_address(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=DRAWN)
    page.get_by_role("button", name="Clear").click()
    expect(page).to_have_url(re.compile("drawn=0{64}"))
    stroke(page, *((row, 4) for row in range(8)))
    column = "0000g000" * 8
    expect(page).to_have_url(re.compile(f"drawn={column}"))
    said = page.get_by_text(re.compile(r"Drawn by hand\. The model with trained positions says \d"))
    expect(said).to_contain_text("says 1")
    stroke(page, (0, 4))
    expect(page).to_have_url(re.compile("drawn=0{8}0000g000"))
    page.reload()
    expect(said).to_be_visible()
    page.get_by_role("slider", name=re.compile("^Picture")).press("ArrowRight")
    expect(page.get_by_text(re.compile(r"A “\d” from the test set\."))).to_be_visible()
    expect(page).not_to_have_url(re.compile("drawn="))
