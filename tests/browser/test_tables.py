"""Tables and number fields: numbers end in line, what a scroller hides is said, and no value is cut."""

from playwright.sync_api import expect

from tests.browser import Visit

LOW, ORDERED = "/why?why=Test it", "/complexity"

ENDS = """() => [...document.querySelectorAll("*")].flatMap(({ shadowRoot }) =>
    [...(shadowRoot?.querySelectorAll(".counts table") ?? [])]).flatMap((table) =>
        [...table.querySelectorAll("tbody td")].filter((cell) => /^[-−+]?[0-9.,]+%?$/.test(cell.textContent))
            .filter((cell) => !cell.matches(".bar") && getComputedStyle(cell).textAlign !== "right")
            .map((cell) => cell.textContent))"""
"""Numbers that do not end at the right of their column."""

CUT = """() => [...document.querySelectorAll("*")].flatMap(({ shadowRoot }) =>
    [...(shadowRoot?.querySelectorAll(".low") ?? [])]).map((scroller) => {
        const { bottom } = scroller.getBoundingClientRect();
        const rows = [...scroller.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect());
        const isCut = rows.some((row) => row.top < bottom - 1 && row.bottom > bottom + 1);
        const below = rows.filter((row) => row.bottom > bottom + 1).length;
        return [isCut, below, parseInt(scroller.nextSibling.textContent)];
    })"""
"""Of each low table: whether a row is cut through, how many are out of sight, and how many it says are."""

FIELDS = """() => [...document.querySelectorAll("[data-testid=stNumberInputField]")]
    .filter((field) => field.checkVisibility() && field.scrollWidth > field.clientWidth)
    .map((field) => field.ariaLabel + field.value)"""


def test_numbers_end_in_line_and_hidden_rows_are_counted(visit: Visit) -> None:
    page = visit.open(LOW, drawn=".counts table")
    [(is_cut, below, said)] = page.evaluate(CUT)
    assert not is_cut
    assert below == said > 0
    assert page.evaluate(ENDS) == []


def test_on_a_phone_a_table_scrolls_and_shows_that_it_goes_on(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open(ORDERED, drawn=".counts table")
    scroller = page.locator(".counts .scroller")
    expect(page.get_by_role("columnheader")).to_have_count(5)
    page.locator(".counts .goes-on").wait_for()
    scroller.evaluate("(node) => node.scrollTo(node.scrollWidth, 0)")
    page.locator(".counts .goes-on").wait_for(state="hidden")


def test_no_number_field_cuts_its_value(visit: Visit) -> None:
    for width in (1280, 390):
        visit.page.set_viewport_size({"width": width, "height": 800})
        for address in (
            "/positions?lesson=Sinusoidal&wave=A shift is a rotation",
            "/positions?lesson=Sinusoidal&wave=By hand",
            "/positions_rope?scheme=Wavelengths",
            "/masks?layer=3",
        ):
            page = visit.open(address, drawn="[data-testid=stNumberInputField]")
            assert page.evaluate(FIELDS) == [], (address, width)
