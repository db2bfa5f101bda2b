"""What only a browser shows of the pages on costs: a row that is clicked, a measurement that runs, a phone."""

import re

from playwright.sync_api import expect

from tests.browser import Visit, assert_fits, open_tab, violations

LONG = 320_000
"""A process of its own takes long to start on a busy machine."""


def test_a_click_on_a_row_opens_its_derivation_and_is_in_the_address(visit: Visit) -> None:
    page = visit.open("/complexity", drawn=".counts table")
    page.get_by_role("button", name="recurrent").click()
    expect(page.get_by_text("Steps in sequence, recurrent.")).to_be_visible()
    expect(page).to_have_url(re.compile("row=recurrent"))


def test_a_measurement_fills_its_chart_while_it_runs(visit: Visit) -> None:
    page = visit.open("/complexity?cost=Measured", drawn=".st-key-counted svg, .st-key-counted canvas")
    page.get_by_role("button", name="Measure on this server").click()
    expect(page.locator(".st-key-measured")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("cell", name="restricted attention", exact=True)).to_be_visible(timeout=LONG)
    expect(page.get_by_role("button", name="Once more")).to_be_visible(timeout=LONG)
    page.set_viewport_size({"width": 390, "height": 844})
    assert_fits(page)
    assert violations(page) == []
    open_tab(page, "The table")
    expect(page.get_by_text("Multiplications, self-attention.")).to_be_visible()
