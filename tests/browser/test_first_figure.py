"""Where the first figure of a page begins, and how large its letters are; `test_every_page` asks it of every tab."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser import AT_REST, Visit, open_place, project
from tests.pages.tabs import Address, addresses
from tfmviz.ui.router import PAGES

HIGHEST = dict.fromkeys((page.name for page in PAGES if page.group), 260) | dict.fromkeys(
    (
        *("counting", "explorer", "feed_forward", "ladder", "recipe", "residual_stream"),
        *("step_by_step", "switch_off", "tokens", "training", "whole_model", "writing"),
    ),
    210,
)
"""Pixels from the top of the window to the first figure, at 1280 × 800. The other pages have a line of controls."""

HIGHEST_ON_A_PROJECTOR, BELOW_TWO_LINES = 240, 300
"""The same of every tab, on a projector. Pages on translators have two lines of choices."""

SMALLEST = 18
"""Pixels of the smallest letters in a figure on a projector."""

POND = (
    "I walked along the pond, and noticed that one of the trees along the bank had fallen into the water after the "
    "storm."
)
"""A lecture's longest sentence: 26 tokens."""

LINES = "[class*=st-key-line-]:not(.st-key-line-choices)"
"""Lines of controls, but that of model, layer and head."""

INSIDE = """
  const inside = (root) =>
    [...root.querySelectorAll(":not(.st-key-header *)")]
      .flatMap((e) => [e, ...(e.shadowRoot ? inside(e.shadowRoot) : [])]);
"""
"""All elements below a root but those of the header; those inside views too."""

FIRST = (
    "() => {"
    + INSIDE
    + """
  const tops = inside(document.querySelector("[data-testid=stMain]"))
    .filter((e) => e.matches("canvas, svg, table, [data-testid=stCode], .bars, .strip"))
    .map((e) => e.getBoundingClientRect())
    .filter((box) => box.width > 140 && box.height > 40)
    .map((box) => box.top);
  return tops.length ? Math.round(Math.min(...tops)) : null;
}"""
)
"""Where the first picture, table or shaded sentence begins, in pixels; null while there is none."""

RECORD = """
  const canvas = HTMLCanvasElement.prototype, pen = CanvasRenderingContext2D.prototype;
  const { fillText, drawImage, clearRect } = pen, width = Object.getOwnPropertyDescriptor(canvas, "width");
  const drawn = (globalThis.drawnTexts = new Map());
  const add = (onto, texts) => drawn.set(onto, [...(drawn.get(onto) ?? []), ...texts]);
  pen.fillText = function (text, x, y, ...room) {
    const { a, b, c, d, e, f } = this.getTransform();
    const scale = Math.hypot(a, b) / devicePixelRatio;
    const [right, down] = [a * x + c * y + e, b * x + d * y + f].map((pixels) => pixels / devicePixelRatio);
    const size = Number(/([0-9.]+)px/.exec(this.font)[1]) * scale;
    if (String(text).trim())
      add(this.canvas, [
        { text, size, x: right, y: down, width: this.measureText(text).width * scale, isUpright: Math.abs(a) < 0.1 },
      ]);
    return fillText.call(this, text, x, y, ...room);
  };
  pen.drawImage = function (source, ...place) {
    add(this.canvas, drawn.get(source) ?? []);
    return drawImage.call(this, source, ...place);
  };
  pen.clearRect = function (...box) {
    drawn.delete(this.canvas); // views clear the whole of it
    return clearRect.apply(this, box);
  };
  Object.defineProperty(canvas, "width", {
    ...width,
    set(pixels) {
      drawn.delete(this); // this clears it, too
      width.set.call(this, pixels);
    },
  });
"""
"""Keeps what is written on each canvas, where and how large, from before the page's own scripts run."""

WRITTEN = (
    "(limit) => {"
    + INSIDE
    + """
  const small = {};
  const texts = [...drawnTexts].flatMap(([canvas, written]) => (canvas.isConnected ? written : []));
  for (const { text, size } of texts) if (size < limit - 0.05) small[text] = size;
  for (const e of inside(document.querySelector("[data-testid=stMain]"))) {
    const says = [...e.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
    const { width, height } = e.getBoundingClientRect(), { visibility, fontSize } = getComputedStyle(e);
    const isSeen = width > 1 && height > 1 && visibility === "visible" && !e.matches("style, script, option");
    if (says && isSeen && parseFloat(fontSize) < limit - 0.1) small[e.textContent.trim().slice(0, 40)] = fontSize;
  }
  return small;
}"""
)
"""All text in letters below a limit, with their size: on canvases, in charts, in the views and between them."""

FIGURE_BEFORE_CONTROLS = f"""(lines) => {{
    const first = ({FIRST})(), all = [...document.querySelectorAll(lines)];
    return first !== null && all.length && all.every((line) => first < line.getBoundingClientRect().top);
}}"""
"""On a phone, where controls are of one tab."""

CONTROLS_BEFORE_FIGURE = f"""(lines) => {{
    const first = ({FIRST})(), {{ bottom }} = document.querySelector(lines).getBoundingClientRect();
    return first !== null && bottom <= first && first < 844 * 2 / 3;
}}"""
"""On a phone, where they say what the whole page is about: below all figures of a long page nobody would find them. The
figure still begins in sight."""

ON_A_PHONE = dict.fromkeys(("positions", "residual_stream", "normalisation"), FIGURE_BEFORE_CONTROLS) | dict.fromkeys(
    ("bottleneck", "counting", "positions_compare", "switch_off"), CONTROLS_BEFORE_FIGURE
)

COMPLETE = f"""() => ({AT_REST})()
    && [...document.querySelectorAll("[role=tabpanel]")].every(
      (panel) => !panel.checkVisibility() || panel.querySelector("[data-testid^=stBidi], canvas, svg, table, pre, p"))
    && [...document.querySelectorAll(".stVegaLiteChart")].every((chart) => chart.querySelector("svg.marks text"))"""
"""Nothing runs, the open tabs hold something, and every chart has its letters."""


def go(visit: Visit, page: str, address: Address) -> Page:
    opened = visit.open(f"/{page}?{urlencode(address)}", drawn="[role=tablist]")
    opened.wait_for_function(COMPLETE)
    return opened


def each_tab(page: Page, name: str) -> Iterator[str]:
    """Opens every tab of a page that is open at its first one, one after the other."""
    for number, address in enumerate(addresses(name)):
        if number:
            open_place(page, address)
            page.wait_for_function(COMPLETE)
        yield " / ".join(address.values())


def expect_figure_above(page: Page, limit: int, *, what: str) -> None:
    """Waits until the first figure begins above a limit."""
    within = f"(limit) => {{ const top = ({FIRST})(); return top !== null && top <= limit; }}"
    try:
        page.wait_for_function(within, arg=limit)
    except Error as error:
        raise AssertionError(f"{what}: the first figure begins at {page.evaluate(FIRST)}, not above {limit}") from error


@pytest.mark.parametrize("name", ["explorer", "step_by_step", "masks", "whole_model"])
def test_a_long_sentence_has_large_letters_too(visit: Visit, name: str) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    with visit.page.add_init_script(RECORD):
        page = go(visit, name, {"text": POND, "projector": "1"})
    page.wait_for_function(f"() => ({FIRST})() !== null")
    assert page.evaluate(WRITTEN, SMALLEST) == {}


def test_on_a_phone_a_tab_says_above_its_figure_what_it_is_about(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    for name in ("training", "why", "normalisation"):
        page = go(visit, name, {})
        words = page.get_by_role("tabpanel").locator(".stMarkdown").first.bounding_box()
        assert words, name
        assert words["y"] + words["height"] <= page.evaluate(FIRST), name


def test_the_sentence_is_whole_in_its_box(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    page = go(visit, "masks", {"text": POND})
    box = page.get_by_label("Your sentence")
    whole = "(box) => box.scrollHeight <= box.clientHeight + 1"
    expect(box).to_have_value(POND)
    page.wait_for_function(whole, arg=box.element_handle())
    project(page)
    expect(box).to_have_value(POND)
    page.wait_for_function(whole, arg=box.element_handle())


def test_enter_ends_the_sentence_and_pasted_lines_are_one_text(visit: Visit) -> None:
    page = go(visit, "whole_model", {})
    box = page.get_by_label("Your sentence")
    box.fill("Two lines,\none sentence")
    box.press("Enter")
    expect(page).to_have_url(re.compile("Two.lines"))
    expect(page.locator("[data-testid=stMain] [data-stale=true]")).to_have_count(0)
    expect(box).to_have_value("Two lines,\none sentence")
