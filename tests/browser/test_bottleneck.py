"""What only a browser shows of the page on recurrent translators: clicks, links, widths, accessibility."""

import re

from playwright.sync_api import expect

from tests.browser import Visit, open_tab

PAGE = "/bottleneck?text=Je+suis+%C3%A9tudiant."
TABLE = ".counts table"


def test_a_click_on_a_model_and_on_a_cell_shows_the_sum_behind_it(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=TABLE)
    page.get_by_role("button", name="dot-product attention").click()
    expect(page).to_have_url(re.compile("attention=dot"))
    open_tab(page, "Alignments")
    expect(page.locator(".st-key-alignment").get_by_text("α, dot-product attention")).to_be_visible()
    canvas = page.locator(".st-key-alignment canvas").first
    expect(canvas).to_be_visible()
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"word=\d+"))
    expect(page.get_by_text(re.compile("The last column adds up to"))).to_be_visible()
