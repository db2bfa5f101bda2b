"""What only a browser shows of pictures made of cells: pointer, keyboard, clicks, colours, files, access."""

import re
import struct

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import READY, SCHEMES, Visit, box_of, keys, saved, tool, violations
from tests.pages import plain
from tfmviz.plots.theme import DARK, LIGHT, channels
from tfmviz.record.trace import Array

TEXT = "The cat sat on the mat."
SENTENCE = "text=The+cat+sat+on+the+mat.&layer=1&head=2"
HEADS = f"/step_by_step?part=Heads+or+their+mean%3F&{SENTENCE}"
SINKS = f"/why?why=The+first+token&{SENTENCE}"
DAMAGE = f"/switch_off?removed=Every+part+in+turn&{SENTENCE}"
WORD = f"/residual_stream?stream=Who+made+the+word&{SENTENCE}"
REACH = f"/masks?effect=Reach&{SENTENCE}"
DRAWN = ".cells canvas"


def picture(page: Page, key: str) -> Locator:
    """A picture, with the keyboard on it."""
    found = page.locator(f".st-key-{key} .cells")
    found.locator("canvas").scroll_into_view_if_needed()
    found.locator("canvas").focus()
    return found


def go(page: Page, found: Locator, *, down: int = 0, right: int = 0) -> dict[str, float]:
    """Moves the cursor from the upper left corner, and returns where its cell lies on the screen."""
    keys(page, "Home", *["ArrowUp"] * 20)
    for key, times in (("ArrowDown", down), ("ArrowRight", right)):
        for _ in range(times):
            page.keyboard.press(key)
    box = box_of(found.locator(".mark"))
    return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}


def value(said: Locator) -> float:
    """The number that a sentence ends with."""
    return float(said.inner_text().rsplit(": ", 1)[1])


def patterns() -> Array:
    """Attention of layer 1, which the addresses name, from numpy alone: (head, query, key)."""
    return np.asarray(plain.forward(TEXT)[0][1])


def colour_at(page: Page, found: Locator, place: dict[str, float]) -> list[int]:
    """Red, green and blue of the canvas under a point of the screen."""
    rgb: list[int] = found.locator("canvas").evaluate(
        """(canvas, {x, y}) => {
          const box = canvas.getBoundingClientRect();
          const scale = canvas.width / box.width;
          const [left, top] = [Math.round((x - box.left) * scale) + 6, Math.round((y - box.top) * scale) + 6];
          return [...canvas.getContext("2d").getImageData(left, top, 1, 1).data.slice(0, 3)];
        }""",
        place,
    )
    return rgb


def test_a_cell_tells_its_value_to_pointer_and_keys_and_nothing_moves_nor_promises_a_click(visit: Visit) -> None:
    page = visit.open(HEADS, drawn=DRAWN)
    found = picture(page, "mean_and_heads")
    place = go(page, found, down=3, right=1)
    page.keyboard.press("Escape")
    before = found.bounding_box()
    page.mouse.move(place["x"], place["y"])
    tip = found.locator(".tip")
    expect(tip).to_have_text(re.compile(r"^mean of all heads: query 3 “on”, key 1 “cat”: 0\.\d{3}$"))
    assert value(tip) == pytest.approx(patterns().mean(axis=0)[3, 1], abs=6e-4)
    assert found.bounding_box() == before
    expect(found.locator("canvas")).to_have_css("cursor", "auto")
    page.mouse.move(0, 0)
    expect(tip).to_have_text("Hover over a cell for its value.")
    assert found.bounding_box() == before
    found = picture(page, "mean_and_heads")
    page.keyboard.press("ArrowDown")
    go(page, found, down=6, right=6)
    for _ in range(2):  # over the edge of the mean to the first head
        page.keyboard.press("ArrowRight")
    for said in (found.locator(".tip"), found.locator("[role=status]")):
        expect(said).to_have_text(re.compile(r"^head 0: query 6 “\.”, key 1 “cat”: 0\.\d{3}$"))
        assert value(said) == pytest.approx(patterns()[0, 6, 1], abs=6e-4)
    page.keyboard.press("Escape")
    expect(found.locator(".mark")).to_be_hidden()
    expect(found.locator("canvas")).not_to_be_focused()


def test_a_click_or_enter_on_a_map_of_heads_sets_layer_and_head_one_on_an_mlp_does_not(visit: Visit) -> None:
    for address, key in ((DAMAGE, "damage_map"), (SINKS, "sinks"), (WORD, "head_scores_map")):
        page = visit.open(address, drawn=DRAWN)
        found = picture(page, key)
        if key == "damage_map":
            place = go(page, found, down=1, right=8)
            expect(found.locator(".tip")).to_have_text(re.compile(r"^layer 1, MLP: [+−]\d\.\d{4} nats$"))
            page.mouse.click(place["x"], place["y"])
        place = go(page, found, down=2, right=6)
        page.mouse.click(place["x"], place["y"])
        expect(found.locator("canvas")).to_have_css("cursor", "pointer")
        expect(page).to_have_url(re.compile(r"layer=2(&|$)"))
        expect(page).to_have_url(re.compile(r"head=6(&|$)"))
        steppers = (("Layer", "2"), ("Head", "6")) if key != "head_scores_map" else ()  # there the map alone chooses
        for name, number in steppers:
            expect(page.get_by_role("spinbutton", name=name, exact=True)).to_have_value(number)
        if key == "sinks":
            go(page, found, down=2, right=5)
            page.keyboard.press("Enter")
            expect(page).to_have_url(re.compile(r"head=5(&|$)"))
            page.wait_for_selector(READY)
            found.locator("canvas").blur()
            found.locator("canvas").focus()
            expect(found.locator(".tip")).to_have_text(re.compile("^layer 2, head 5: "))


def test_masked_cells_are_grey_in_both_modes(visit: Visit) -> None:
    for mode, theme in zip(SCHEMES, (LIGHT, DARK), strict=True):
        visit.page.emulate_media(color_scheme=mode)
        page = visit.open(HEADS, drawn=DRAWN)
        found = picture(page, "mean_and_heads")
        page.keyboard.press("ArrowDown")
        ends = [channels(colour) for colour in (theme.masked, theme.hatch)]  # on a line, beside one, or at its edge
        found_there = colour_at(page, found, go(page, found, down=1, right=4))
        assert all(min(two) <= one <= max(two) for one, *two in zip(found_there, *ends, strict=True)), mode
        assert colour_at(page, found, go(page, found, down=0, right=0)) == [0xFE, 0xE8, 0x38]


def test_all_numbers_are_read_as_a_table_and_new_ones_replace_them_in_the_same_picture(visit: Visit) -> None:
    page = visit.open(HEADS, drawn=DRAWN)
    found = picture(page, "mean_and_heads")
    lines = found.locator("dialog tbody tr")
    expect(lines).to_have_count(0)
    tool(found, "Values").click()
    expect(lines).to_have_count(9 * 7)
    assert violations(page, ".st-key-mean_and_heads") == []
    cells = lines.evaluate_all("rows => rows.map(r => [...r.cells].map(c => c.textContent))")
    rows = [row[2:] for row in cells if row[0] == "head 2"]
    expected = patterns()[2]
    assert len(rows) == len(expected)
    for i, row in enumerate(rows):
        shown = [float(value) for value in row[: i + 1]]
        assert shown == pytest.approx(expected[i, : i + 1], rel=1e-5)  # float32, another batch
        assert row[i + 1 :] == [""] * (len(row) - i - 1)
    page.keyboard.press("Escape")
    found.locator("canvas").evaluate("canvas => { canvas.isTheSame = true; }")
    before = found.locator("canvas").get_attribute("aria-label")
    assert before is not None
    visit.enter("the cat")
    expect(found.locator("canvas")).not_to_have_attribute("aria-label", before)
    page.wait_for_selector(READY)
    tool(found, "Values").click()
    expect(found.locator("tbody tr")).to_have_count(2 * 9)
    assert found.locator("canvas").evaluate("canvas => canvas.isTheSame")


def test_pictures_are_saved_as_svg_and_png(visit: Visit) -> None:
    found = picture(visit.open(REACH, drawn=DRAWN), "reach")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg := saved(found, "SVG").decode())
    assert texts[0] == "layers until the key can influence the query"
    for word in ("The", "cat", "mat", "query", "key"):
        assert texts.count(word) == (1 if word in ("query", "key") else 2), word
    assert "#d9dbe0" in svg
    data = saved(found, "PNG")
    assert data.startswith(b"\x89PNG")
    assert min(struct.unpack(">II", data[16:24])) > 400


WATCHED = """
globalThis.watching = new Set();
globalThis.ResizeObserver = class extends ResizeObserver {
  observe(node) {
    if (node.matches(".view.cells")) watching.add(this);
    super.observe(node);
  }
  disconnect() {
    watching.delete(this);
    super.disconnect();
  }
};
"""


def test_a_picture_that_is_taken_away_is_watched_no_longer(visit: Visit) -> None:
    """An observer holds on to what it observes."""
    with visit.page.add_init_script(WATCHED):
        page = visit.open(HEADS, drawn=DRAWN)
    assert page.evaluate("watching.size") > 0
    expect(page.locator(".cells")).to_have_count(page.evaluate("watching.size"))
    visit.turn_to("/contents")
    expect(page.locator(".cells")).to_have_count(0)
    page.wait_for_function("watching.size === 0")
