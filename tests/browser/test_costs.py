"""What only a browser shows of the pages on costs: a row that is clicked, a measurement that runs, a phone."""

from __future__ import annotations

import re
from urllib.parse import urlencode

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


def test_experts_at_work_are_in_the_address_and_fit_a_phone(visit: Visit) -> None:
    address = urlencode({"sized": "Which changes help?", "model": "experts"})
    page = visit.open(f"/size?{address}", drawn=".st-key-variants svg, .st-key-variants canvas")
    page.get_by_role("radio", name="experts at work").click()
    expect(page.locator(".st-key-routing").locator("svg.marks, canvas").first).to_be_visible()
    expect(page).to_have_url(re.compile("changes=experts"))
    expect(page.get_by_text("layer 2").first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert_fits(page)
    assert violations(page) == []


def test_a_click_on_a_columns_title_sorts_the_table_and_the_third_one_gives_back_its_order(visit: Visit) -> None:
    page = visit.open("/size?" + urlencode({"sized": "Result tables"}), drawn=".st-key-result_table tbody tr")
    names = page.locator(".st-key-result_table tbody th")
    as_it_came = names.all_text_contents()
    title = page.get_by_role("button", name="BLEU, En–De")
    title.click()
    assert names.all_text_contents()[:2] == ["Transformer big", "Transformer base"]
    assert page.locator("th[aria-sort=descending]").count() == 1
    page.keyboard.press("Enter")  # the title has kept the focus
    assert names.all_text_contents()[0] == "ByteNet"
    page.keyboard.press("Enter")
    assert names.all_text_contents() == as_it_came
    assert page.get_by_role("button", name="new in it").count() == 0
