"""What only a browser shows of the residual-stream page: clicks and keys in the lens, colours, width, the address."""

import re

from playwright.sync_api import Page, expect

from tests.browser import Visit, keys, open_tab, saved, tool

PAGE = "/residual_stream?text=The+cat+sat+on+the+mat."
LENS = f"{PAGE}&stream=Logit+lens"
DRAWN = ".lens td button, [data-testid=stVegaLiteChart] svg, .cells canvas"


def cell(row: int, column: int) -> str:
    return f".lens td button[data-row='{row}'][data-column='{column}']"


def heading(page: Page, token: int, stage: str) -> None:
    """Waits until the ten best words are those of a cell."""
    expect(page.get_by_text(re.compile(rf"Token {token} “.*”, {stage}"))).to_be_visible()


def test_paths_are_turned_read_out_and_saved_and_no_other_tab_loads_what_draws_them(visit: Visit) -> None:
    page = visit.page
    scripts: list[str] = []
    page.on("request", lambda request: scripts.append(request.url) if "Plotly" in request.url else None)
    visit.open(f"{PAGE}&stream=Lengths", drawn=DRAWN)
    assert scripts == []
    open_tab(page, "Neighbours")
    page.get_by_role("radio", name="in space").click()
    figure = page.locator(".st-key-paths .js-plotly-plot")
    expect(figure).to_have_attribute("aria-label", re.compile(r"Paths of 7 tokens\. As an embedding, “"))
    eye = "(node) => node._fullLayout.scene.camera.eye.z"
    before = figure.evaluate(eye)
    page.get_by_role("radio", name="above").click()
    page.wait_for_function(f"(was) => ({eye})(document.querySelector('.js-plotly-plot')) > was", arg=before)
    paths = page.locator(".st-key-paths")
    assert saved(paths, "PNG").startswith(b"\x89PNG")
    tool(paths, "Values").click()
    expect(page.locator("dialog.values tbody tr")).to_have_count(7 * 7)
    page.keyboard.press("Escape")


def test_a_click_on_a_cell_shows_its_words_and_reaches_the_address(visit: Visit) -> None:
    page = visit.open(LENS, drawn=DRAWN)
    page.locator(cell(2, 1)).click()
    heading(page, 2, "after layer 0")
    expect(page).to_have_url(re.compile(r"read=1"))
    expect(page).to_have_url(re.compile(r"token=2"))
    expect(page.locator(".lens [aria-pressed=true]")).to_have_count(1)
    page.reload()
    expect(page.locator(f"{cell(2, 1)}[aria-pressed=true]")).to_be_visible()
    heading(page, 2, "after layer 0")
    best = page.locator(".st-key-lens_cell .label").first.inner_text()
    expect(page.locator(cell(2, 1))).to_have_text(best)
    lines = saved(page, "The lens as CSV").decode().splitlines()
    assert len(lines) == 1 + 7 * 7
    assert lines[1 + 2 * 7 + 1].startswith("2, sat,after layer 0,")


def test_arrow_keys_go_from_cell_to_cell_and_enter_chooses(visit: Visit) -> None:
    page = visit.open(f"{LENS}&token=3&read=2", drawn=DRAWN)
    page.locator(f"{cell(3, 2)}[aria-pressed=true]").focus()
    keys(page, "ArrowRight", "ArrowDown")
    expect(page.locator(cell(4, 3))).to_be_focused()
    expect(page.locator(".lens .tip")).to_contain_text("“the”, after layer 2:")
    page.keyboard.press("Enter")
    heading(page, 4, "after layer 2")
    expect(page.locator(f"{cell(4, 3)}[aria-pressed=true]")).to_be_visible()
