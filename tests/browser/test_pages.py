"""What only a browser shows of single pages: clicks, keys, links, the address, widths, accessibility."""

import csv
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import AT_REST, Visit, assert_fits, box_of, keys, open_tab, saved, tool, violations

BOTTLENECK = "/bottleneck?text=Je+suis+%C3%A9tudiant."
COUNTING = "/counting?text=today+the+price+of"
LADDER = "/ladder?text=The+boy+who+lived+by+the+river+was+very+happy."
POSITIONS = "/positions?text=Man+eats+small+dinosaur."
OFF = "/switch_off?text=The+cat+sat+on+the+mat."
HEADS = "/step_by_step?part=Find+a+head&model=induction&text=The+cat+sat+on+the+mat.&layer=1&head=0"
DIGITS, BOARD = "/positions?lesson=Not+only+words", ".drawing canvas"
TABLE = ".counts table"
FIGURE = "[data-testid=stMain] canvas, [data-testid=stMain] svg.marks"
ORDER = "[data-testid=stVegaLiteChart] svg, .cells canvas"
MAIN = "[data-testid=stVegaLiteChart] svg, .cells canvas, .bars li"
POINTS = ".heads .plot button"
LONG = 320_000
"""A process of its own takes long to start on a busy machine."""


def test_a_click_on_a_model_and_on_a_cell_shows_the_sum_behind_it(visit: Visit) -> None:
    page = visit.open(BOTTLENECK, drawn=TABLE)
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


def test_a_click_shows_the_sentences_and_the_link_brings_them_back(visit: Visit) -> None:
    page = visit.open(COUNTING, drawn=TABLE)
    row = page.get_by_role("button", name="his", exact=True)
    row.click()
    expect(row).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".counts mark").first).to_have_text(re.compile("price of his", re.IGNORECASE))
    expect(page).to_have_url(re.compile("counted=his"))
    page.reload()
    expect(page.get_by_text("“price of his” occurs once:")).to_be_visible()
    expect(page.get_by_role("button", name="his", exact=True)).to_have_attribute("aria-pressed", "true")


def test_a_row_is_chosen_by_keyboard_and_the_table_is_saved_with_plain_numbers(visit: Visit) -> None:
    page = visit.open(COUNTING, drawn=TABLE)
    row = page.get_by_role("button", name="this", exact=True)
    row.focus()
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("aria-pressed", "true")
    expect(row).to_be_focused()
    tool(page.locator(".counts"), "Values").click()
    head, first, *_ = csv.reader(saved(page, "CSV").decode().splitlines())
    assert head[0] == "next word w"
    assert first[:3] == ["rice", "2", "9"]


def test_a_click_on_a_token_shows_what_was_expected_there(visit: Visit) -> None:
    page = visit.open(LADDER, drawn=FIGURE)
    expect(page.get_by_text("What does each expect after")).not_to_contain_text("The text has")
    picture = page.locator(".st-key-surprise canvas").first
    box = box_of(picture)
    picture.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.5})
    expect(page.get_by_text("What does each expect after")).to_contain_text("The text has")
    expect(page).to_have_url(re.compile(r"[?&]token=\d"))


def test_times_are_measured_at_a_click(visit: Visit) -> None:
    page = visit.open(f"{LADDER}&ladder=Why+recurrence+lost", drawn=FIGURE)
    page.get_by_role("button", name="Measure how long one layer takes").click()
    expect(page.get_by_text("One layer of width")).to_be_visible(timeout=90_000)


def test_two_words_that_are_clicked_change_places(visit: Visit) -> None:
    page = visit.open(f"{POSITIONS}&order=0.1.2.3.4", drawn=ORDER)
    words = page.locator(".st-key-swap button")
    expect(words).to_have_text(["Man", "eats", "small", "dinosaur", "."])
    expect(page.get_by_text("nothing has moved")).to_be_visible()
    words.nth(1).click()
    words.nth(3).click()
    expect(page).to_have_url(re.compile(r"order=0\.3\.2\.1\.4"))
    expect(words).to_have_text(["Man", "dinosaur", "small", "eats", "."])
    expect(page.get_by_text(re.compile("A sum has no order"))).to_be_visible()
    page.reload()
    expect(words).to_have_text(["Man", "dinosaur", "small", "eats", "."])


@pytest.mark.parametrize("width", [390, 1280])
def test_all_words_of_a_long_text_can_be_reached(visit: Visit) -> None:
    page = visit.open(f"/positions?text={'+'.join(f'word{n}' for n in range(60))}", drawn=ORDER)
    words, box = page.locator(".st-key-swap button"), page.locator(".st-key-swap [role=toolbar]")
    expect(words.nth(20)).to_be_attached()
    words.last.scroll_into_view_if_needed()
    expect(words.last).to_be_in_viewport(ratio=1)
    assert box.evaluate("(node) => node.scrollWidth <= node.clientWidth && node.clientHeight < 200")


def stroke(page: Page, *cells: tuple[int, int]) -> None:
    """Draws through cells, (row, column) each."""
    box = box_of(page.locator(BOARD))
    size = (box["width"] - 4) / 8
    for n, (row, column) in enumerate(cells):
        page.mouse.move(box["x"] + 2 + (column + 0.5) * size, box["y"] + 2 + (row + 0.5) * size)
        if n == 0:
            page.mouse.down()
    page.mouse.up()


def test_a_digit_is_drawn_read_rubbed_out_and_kept_in_the_address(visit: Visit) -> None:
    page = visit.open(DIGITS, drawn=BOARD)
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


def test_a_part_is_switched_off_by_hand_and_the_link_says_so(visit: Visit) -> None:
    page = visit.open(f"{OFF}&layer=1&head=2", drawn=MAIN)
    expect(page.get_by_text(re.compile("with 1.2 off"))).to_be_visible()
    page.get_by_role("switch", name="MLP 2").click()
    expect(page).to_have_url(re.compile(r"off=d1\.2(%2C|,)dm2"))
    expect(page.get_by_text(re.compile(r"with 1.2, MLP 2 off"))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile(r"with 1.2, MLP 2 off"))).to_be_visible()
    expect(page.get_by_role("switch", checked=False)).to_have_text(["2", "MLP"])


def test_the_keyboard_walks_over_the_board_and_stays_where_it_is(visit: Visit) -> None:
    page = visit.open(f"{OFF}&off=none", drawn=MAIN)
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


def test_pointing_at_a_head_shows_it_and_a_click_goes_there(visit: Visit) -> None:
    page = visit.open(HEADS, drawn=POINTS)
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
    page = visit.open(HEADS, drawn=POINTS)
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


def test_the_explorer_leads_to_the_map_of_heads(visit: Visit) -> None:
    """With the head that is open, also where it is the usual one."""
    page = visit.open("/explorer")
    page.get_by_text("What kind of head is this?").click()
    link = page.get_by_role("link", name="Compare it with all heads")
    link.click()
    expect(page.locator(".heads .aside strong")).to_have_text("head 3.2")
    page.wait_for_function(AT_REST)
    expect(page.locator(".heads .aside strong")).to_have_text("head 3.2")
