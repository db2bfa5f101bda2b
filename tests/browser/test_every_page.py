"""Every page of the menu, a new one too: open to all readers on each screen, figures first, and made for a projector.
None jumps while it comes.

One visit asks every tab of a page all that is asked of every tab. `make test` opens the first tab of each page, in turn
a light and a dark one; `make soak` opens each page in both schemes, and all 150 tabs: ten minutes of Chromium's.
"""

import re
from contextlib import suppress
from itertools import islice
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from playwright.sync_api import TimeoutError as TookTooLong

from tests.browser import SCHEMES, SHIFTS, WRITTEN, Visit, assert_fits, open_place, project, turn, violations
from tests.browser.test_beside import ADDRESS as TWO_SENTENCES
from tests.browser.test_first_figure import (
    BELOW_TWO_LINES,
    COMPLETE,
    HIGHEST,
    HIGHEST_ON_A_PROJECTOR,
    LINES,
    ON_A_PHONE,
    SMALLEST,
    each_tab,
    expect_figure_above,
)
from tests.browser.test_menu import expect_one_line
from tests.pages.tabs import addresses
from tfmviz.ui import router

WINDOW: ViewportSize = {"width": 1280, "height": 800}
TITLES = {page.name: page.title for page in router.PAGES}
LESSONS = [page.name for page in router.PAGES if page.group]
PANEL = "[data-testid=stMain]:not(:has([role=tabpanel])), [role=tabpanel]:not([hidden])"
"""The open tab; the whole page if it has none."""

TABS = [pytest.param(1, id="first tab"), pytest.param(None, id="every tab", marks=pytest.mark.soak)]


@pytest.mark.parametrize("n_tabs", TABS)
@pytest.mark.parametrize(
    ("name", "schemes"),
    [pytest.param(page.name, SCHEMES[:: (-1) ** n], id=page.name) for n, page in enumerate(router.PAGES)],
)
def test_a_page_begins_with_its_figure_is_open_to_all_readers_and_fits_a_phone_and_a_projector(
    visit: Visit, name: str, schemes: list[Literal["light", "dark"]], n_tabs: int | None
) -> None:
    """Tabs are walked through in the last scheme."""
    schemes = schemes if n_tabs is None else schemes[1:]
    visit.page.set_viewport_size(WINDOW)
    visit.page.emulate_media(color_scheme=schemes[0])
    with visit.page.add_init_script(path=WRITTEN), visit.page.add_init_script(path=SHIFTS):
        page = visit.open(router.address(name).removeprefix("."), drawn="[data-testid=stMain] h1")
    shifts = page.evaluate("allShifts()")
    assert sum(shift["value"] for shift in shifts) <= 0.1, shifts
    expect(page).to_have_title(re.compile(f"^{re.escape(TITLES[name])}[: ]"))
    expect(page.locator("h1")).to_have_text(TITLES[name])
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    for scheme in schemes:
        turn(page, scheme)
        assert violations(page) == [], scheme
    assert page.evaluate("looks.hardToHit()") == []
    if name in LESSONS:
        expect_figure_above(page, HIGHEST[name], what="the page")
    page.set_viewport_size({"width": 1024, "height": 768})
    assert settled(page, "looks.cutTabs()", []) == []
    page.set_viewport_size({"width": 390, "height": 844})
    if name in ON_A_PHONE:
        page.wait_for_function(f"(lines) => looks.{ON_A_PHONE[name]}(lines)", arg=LINES)
    for tab in islice(each_tab(page, name), n_tabs) if name in LESSONS else [""]:
        page.wait_for_function(COMPLETE)
        expect(page.get_by_text("BidiComponent Error")).to_have_count(0)  # Streamlit's words for a view that breaks
        assert_fits(page)
        assert page.evaluate("looks.hardToHit()") == [], tab
        assert violations(page, PANEL) == [], tab
    if name in LESSONS:
        page.set_viewport_size(WINDOW)
        expect_for_the_last_row(page, name, n_tabs)


def expect_for_the_last_row(page: Page, name: str, n_tabs: int | None) -> None:
    """On a projector the choices take one line, the figure comes next, and all is written in large letters."""
    if n_tabs != 1:
        open_place(page, addresses(name)[0])
    project(page)
    page.wait_for_selector(".st-key-head", state="attached")
    page.wait_for_function(COMPLETE)
    choices = ("text", "models", "head")
    expect_one_line(page, *(choice for choice in choices if page.locator(f".st-key-{choice}").is_visible()))
    for tab in islice(each_tab(page, name), n_tabs):
        limit = BELOW_TWO_LINES if page.locator(".st-key-kind").is_visible() else HIGHEST_ON_A_PROJECTOR
        expect_figure_above(page, limit, what=tab)
        assert settled(page, f"looks.small({SMALLEST})", {}) == {}, tab


def settled(page: Page, question: str, expected: object) -> object:
    """The answer, once it is the expected one or the page has had time enough: it was open in small letters before."""
    with suppress(TookTooLong):
        is_expected = f"(expected) => JSON.stringify({question}) === JSON.stringify(expected)"
        page.wait_for_function(is_expected, arg=expected, timeout=20_000)
    return page.evaluate(question)


CAT = "text=The+cat+sat+on+the+mat."
BESIDE = ("explorer", "writing", "counting", "masks", "normalisation", "residual_stream", "tokens", "translating")

STATES = (
    *(TWO_SENTENCES.replace("explorer", name) for name in BESIDE),
    *(f"/{name}?{CAT}&with=another+scheme" for name in ("positions", "positions_rope")),
    *(f"/step_by_step?{CAT}&stage={stage}" for stage in ("scores", "share", "out")),
    *(f"/whole_model?{CAT}&zoom={zoom}&beside=Post-norm,+pre-norm" for zoom in ("block", "head")),
    "/writing?text=The+students+opened+their&chosen_by=greedy&path=1.3~0.0.5k.5l.5m~0.1.5n.5m",
    f"/translating?text={'voiture+' * 60}",
)
"""Addresses of what a reader has made of a tab."""


@pytest.mark.sweep
@pytest.mark.parametrize("width", [390])
@pytest.mark.parametrize("address", [*STATES[:2], *(pytest.param(one, marks=pytest.mark.soak) for one in STATES[2:])])
def test_what_no_tab_opens_with_fits_a_phone_and_shuts_nobody_out(visit: Visit, address: str) -> None:
    page = visit.open(address, drawn="[data-testid=stMain] :is(canvas, table, svg)")
    page.wait_for_function(COMPLETE)
    assert_fits(page, 1280)
    turn(page, "dark")
    assert violations(page) == []
