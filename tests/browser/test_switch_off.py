"""What only a browser shows of the pages that switch parts off and normalise: boxes, links, widths, accessibility."""

import re

from playwright.sync_api import expect

from tests.browser import AT_REST, Visit, keys

OFF = "/switch_off?text=The+cat+sat+on+the+mat."
DRAWN = "[data-testid=stVegaLiteChart] svg, .cells canvas, .bars li"
MAP, COPY, POINTS = (
    f"{OFF}&removed={tab}" for tab in ("Every+part+in+turn", "Copy+from+another+sentence", "Do+sharp+heads+matter%3F")
)


def test_a_part_is_switched_off_by_hand_and_the_link_says_so(visit: Visit) -> None:
    page = visit.open(f"{OFF}&layer=1&head=2", drawn=DRAWN)
    expect(page.get_by_text(re.compile("with 1.2 off"))).to_be_visible()
    page.get_by_role("switch", name="MLP 2").click()
    expect(page).to_have_url(re.compile(r"off=d1\.2(%2C|,)dm2"))
    expect(page.get_by_text(re.compile(r"with 1.2, MLP 2 off"))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile(r"with 1.2, MLP 2 off"))).to_be_visible()
    expect(page.get_by_role("switch", checked=False)).to_have_text(["2", "MLP"])


def test_the_keyboard_walks_over_the_board_and_stays_where_it_is(visit: Visit) -> None:
    page = visit.open(f"{OFF}&off=none", drawn=DRAWN)
    board = page.locator(".st-key-parts")
    expect(board.get_by_role("status").first).to_have_text("Every part is on.")
    board.get_by_role("switch", name="layer 0").focus()
    keys(page, "ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowLeft", " ")
    expect(board.get_by_role("status").first).to_have_text("Off: 0.0.")
    expect(page).to_have_url(re.compile("off=d0.0"))
    page.wait_for_function(AT_REST)
    page.keyboard.press(" ")
    expect(page).to_have_url(re.compile("off=none"))
    expect(board.get_by_role("status").first).to_have_text("Every part is on.")
