"""What only a browser shows of the comparison: links of the card, the address, narrow screens."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser import Visit, choose

PAGE = "/positions_compare?text=The+cat+sat+on+the+mat."
CHART = "[data-testid=stVegaLiteChart] svg, .cells canvas"


def test_an_answer_of_the_card_opens_its_experiment(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&experiment=Decision+card", drawn="[data-testid=stTable] a")
    link = page.locator("[data-testid=stTable] a[href*='left=alibi'][href*='Shift+all']")
    address = str(link.evaluate("node => node.href"))
    assert address.startswith(f"{visit.server.address}/positions_compare?")
    visit.open(address.removeprefix(visit.server.address), drawn=CHART)
    expect(page.get_by_role("tab", name="Shift all positions")).to_have_attribute("aria-selected", "true")
    page.get_by_text("which is rounding.").first.wait_for()
    expect(page.get_by_label("Your sentence")).to_have_value("The cat sat on the mat.")


def test_what_is_chosen_is_in_the_address(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&left=t5&experiment=On+your+sentence", drawn=CHART)
    choose(page, "Scheme B", "none")
    page.locator(".st-key-heads_right").get_by_label(re.compile("none, head 0")).wait_for()
    address = page.url.removeprefix(visit.server.address)
    assert "left=t5" in address
    assert "right=none" in address
    visit.open(address, drawn=CHART)
    page.locator(".st-key-heads_right").get_by_label(re.compile("none, head 0")).wait_for()
    page.locator(".st-key-heads_left").get_by_label(re.compile("t5, head 3")).wait_for()
