"""What only a browser shows of the step-by-step page and the mask laboratory: clicks, keys, drawing, the address."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import AT_REST, Visit, box_of, keys, press, saved

TEXT = "The cat sat on the mat."
STEPS, MASKS = "/step_by_step?text=The+cat+sat+on+the+mat.", "/masks?text=The+cat+sat+on+the+mat."
DRAWN = ".steps .words, .lab .count"


def stage(page: Page, name: str) -> None:
    page.locator(f".stages button[data-stage={name}]").click()


def counts(page: Page, said: str) -> None:
    expect(page.locator(".lab .count")).to_contain_text(said)


def test_buttons_and_arrow_keys_go_through_all_stages_and_back(visit: Visit) -> None:
    page = visit.open(STEPS, drawn=DRAWN)
    count = page.locator(".steps .count")
    expect(count).to_have_text("Stage 1 of 13: sentence.")
    page.get_by_label("Your sentence").click()
    page.keyboard.press("ArrowRight")
    expect(count).to_contain_text("Stage 1 of")
    press(page, "Next →")
    expect(count).to_have_text("Stage 2 of 13: vectors.")
    for n in range(3, 14):
        page.keyboard.press("ArrowRight")
        expect(count).to_contain_text(f"Stage {n} of 13")
        expect(page.locator(".why h2")).to_contain_text(re.compile(r"\d"))
    page.keyboard.press("ArrowRight")
    expect(count).to_contain_text("Stage 13 of 13")
    page.keyboard.press("ArrowLeft")
    expect(count).to_contain_text("Stage 12 of 13")
    expect(page).to_have_url(re.compile("stage=out"))
    visit.enter("My dog ran home.")
    expect(page.locator(".tokens button").nth(1)).to_have_text("dog")


def test_a_click_on_a_cell_opens_its_arithmetic_and_reaches_the_address(visit: Visit) -> None:
    page = visit.open(f"{STEPS}&stage=share", drawn=DRAWN)
    canvas, why = page.locator(".focus canvas[data-matrix=share]"), page.locator(".why h2")
    canvas.wait_for()
    box, before = box_of(canvas), why.inner_text()
    canvas.click(position={"x": box["width"] * 0.3, "y": box["height"] * 0.5})
    expect(why).not_to_have_text(before)
    chosen = re.search(r"query (\d+).*key (\d+)", why.inner_text())
    assert chosen
    expect(page).to_have_url(re.compile(rf"token={chosen[1]}.*at=share\.{chosen[2]}"))
    page.reload()
    expect(why).to_contain_text(f"query {chosen[1]}")
    expect(why).to_contain_text(f"key {chosen[2]}")
    page.wait_for_function(AT_REST)  # what is drawn anew, as when its letters have come, takes no key meanwhile
    canvas.focus()
    page.keyboard.press("ArrowUp")
    expect(why).to_contain_text(f"query {int(chosen[1]) - 1}")
    expect(page.locator(".steps .count")).to_contain_text("softmax")


def board(page: Page) -> Locator:
    return page.locator(".board canvas")


def place_of(page: Page, row: int, column: int) -> dict[str, float]:
    """The middle of a cell of the grid."""
    size = page.evaluate(
        """() => {
          const view = globalThis.tfmvizViews.masks.view.board.place;
          return {left: view.left, top: view.top, cell: view.cell};
        }"""
    )
    return {"x": size["left"] + (column + 0.5) * size["cell"], "y": size["top"] + (row + 0.5) * size["cell"]}


def click_cell(page: Page, row: int, column: int) -> None:
    board(page).click(position=place_of(page, row, column))  # type: ignore[arg-type]


def test_a_mask_is_drawn_by_clicks_strokes_and_keys(visit: Visit) -> None:
    page = visit.open(f"{MASKS}&start=causal", drawn=DRAWN)
    counts(page, "28 of 7 × 7 = 49")
    expect(page.get_by_text("No position can see the word")).to_be_visible()
    board(page).focus()
    for pressed, count in ((["ArrowRight", " "], 29), (["d"], 34), (["u", "u"], 28), (["r"], 34)):
        keys(page, *pressed)
        counts(page, f"{count} of 7 × 7")
    page.get_by_role("button", name="Start again").click()
    counts(page, "28 of 7 × 7")
    click_cell(page, 2, 3)
    counts(page, "29 of 7 × 7")
    expect(page.get_by_text("1 of 6 positions can see the very word")).to_be_visible()
    expect(page).to_have_url(re.compile("edit="))
    page.reload()
    counts(page, "29 of 7 × 7")
    page.get_by_role("button", name="Start again").click()
    counts(page, "28 of 7 × 7")
    expect(page).not_to_have_url(re.compile("edit="))
    board(page).scroll_into_view_if_needed()
    box = box_of(board(page))
    places = [place_of(page, 1, column) for column in range(2, 7)]
    page.mouse.move(box["x"] + places[0]["x"], box["y"] + places[0]["y"])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    page.mouse.up()
    counts(page, "33 of 7 × 7")
    page.get_by_role("button", name="Undo").click()
    counts(page, "28 of 7 × 7")


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_13_words_fit_and_a_finger_that_scrolls_changes_nothing(visit: Visit) -> None:
    page = visit.open("/masks", drawn=DRAWN)
    assert page.evaluate("() => globalThis.tfmvizViews.masks.view.board.place.cell") >= 18
    assert page.locator(".board").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    before = page.locator(".lab .count").inner_text()
    board(page).evaluate(
        """(canvas) => {
          const { left, top } = canvas.getBoundingClientRect();
          const at = { clientX: left + 100, clientY: top + 150, pointerId: 1, bubbles: true };
          canvas.setPointerCapture = () => {};
          for (const name of ["pointerdown", "pointercancel"]) canvas.dispatchEvent(new PointerEvent(name, at));
        }"""
    )
    page.wait_for_function(AT_REST)
    expect(page.locator(".lab .count")).to_have_text(before)
    expect(page).not_to_have_url(re.compile("edit="))
    text = "+".join(["I", "walked", "along", "the", "pond", "and", "noticed"] * 5)
    page = visit.open(f"/masks?text={text}", drawn=".board canvas")
    svg = saved(page.locator(".lab"), "SVG").decode()
    assert len(re.findall(r">walked<|>pond<|>noticed<|>along<", svg)) >= 4, "a long sentence has labels"


def test_a_word_is_hidden_by_a_click_and_shown_by_a_key_a_row_emptied_by_hand_is_named(visit: Visit) -> None:
    page = visit.open(f"{MASKS}&start=causal", drawn=DRAWN)
    word = page.locator(".lab .sentence button", has_text="cat")
    word.click()
    counts(page, "22 of 7 × 7")
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("edit="))
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    counts(page, "28 of 7 × 7")
    expect(word).to_have_attribute("aria-pressed", "false")
    label = page.evaluate(
        """() => {
          const { left, top, cell } = globalThis.tfmvizViews.masks.view.board.place;
          return { x: left + 1.5 * cell, y: top / 2 };
        }"""
    )
    board(page).click(position=label)
    counts(page, "22 of 7 × 7")
    page.get_by_role("button", name="Start again").click()
    counts(page, "28 of 7 × 7")
    click_cell(page, 0, 0)
    counts(page, "Row 0 sees no key")
    expect(page.get_by_text("Row 0 “The” may look at nothing")).to_be_visible()
    expect(page.locator("[data-testid=stMain]")).not_to_contain_text("NaN")
    page.locator(".gallery button[data-mask=window]").click()
    expect(page).to_have_url(re.compile("start=window"))
    page.locator(".lab details.words summary").click()
    expect(page.locator(".lab .words li").nth(4)).to_have_text("“the” sees 2–4")


def test_a_board_without_any_width_is_drawn_and_one_of_a_new_sentence_has_its_words(visit: Visit) -> None:
    """As on a page that the reader leaves. The browser's tab once stood still for good, painting labels."""
    page = visit.open(MASKS, drawn=DRAWN)
    set_width = "(width) => { globalThis.tfmvizViews.masks.view.node.style.width = width; }"
    page.evaluate(set_width, "0")
    page.wait_for_function("() => globalThis.tfmvizViews.masks.view.width === 0", timeout=10_000)
    page.evaluate(set_width, "")
    page.wait_for_function("() => globalThis.tfmvizViews.masks.view.board.place?.cell > 10", timeout=10_000)
    visit.enter("The dog sat on the mat.")
    expect(page).to_have_url(re.compile("dog"))
    page.wait_for_function(AT_REST)
    expect(page.locator(".gallery canvas").first).to_have_css("width", "26px")
    page.get_by_text("The mask in words").click()
    expect(page.locator(".lab .words ol")).to_contain_text("dog")
