"""Projector mode: large letters, the header out of sight, the rest as it was, and it stays from page to page."""

import re

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, Visit, box_of, keys, menu, project, take_from_menu

HEADER = "[data-testid=stLayoutWrapper]:has(> .st-key-header)"

LINE = 130
"""Pixels that the sentence and the choices may take, side by side or in two lines."""

POND = (
    "I walked along the pond, and noticed that one of the trees along the bank had fallen into the water "
    "after the storm."
)

SMALL = """() => {
    const all = (root) => [...root.querySelectorAll(":not(.st-key-header *)")]
        .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
    const small = all(document.querySelector("[data-testid=stMain]")).filter((node) => {
        const { visibility, fontSize } = getComputedStyle(node);
        const { width, height } = node.getBoundingClientRect();
        const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        return hasText && width > 1 && height > 1 && visibility === "visible" && parseFloat(fontSize) < 17.9
            && !node.matches("style, script, option");
    });
    return small.map((node) => node.outerHTML.slice(0, 100));
}"""
"""What is written on a page, but for its header and canvases, in letters smaller than 18 pixels."""


def expect_one_line(page: Page, *choices: str) -> None:
    """These choices end above `LINE`, once the page has found its shape."""
    page.wait_for_function(
        """([limit, ...names]) => names.every(name => {
            const box = document.querySelector(`.st-key-${name}`)?.getBoundingClientRect();
            return box && box.height && box.bottom < limit;
        })""",
        arg=[LINE, *choices],
    )


def expect_header(page: Page, *, is_seen: bool) -> None:
    header = expect(page.locator(HEADER))
    header.to_have_css("opacity", str(int(is_seen)))
    (header.to_be_in_viewport if is_seen else header.not_to_be_in_viewport)(ratio=0.99)


def test_f_fills_the_screen_and_brings_the_frame_back_and_a_question_mark_lists_the_keys(visit: Visit) -> None:
    """But where they are typed into the box."""
    page = visit.open("/explorer")
    page.wait_for_selector(".st-key-keys button", state="attached")
    box, body = page.get_by_label("Your sentence"), page.locator("body")
    listed = page.get_by_role("dialog", name="Keys")
    expect_header(page, is_seen=True)
    project(page)
    expect_header(page, is_seen=False)
    expect_one_line(page, "text", "models")
    body.press("f")
    expect(page).not_to_have_url(re.compile("projector"))
    page.wait_for_function(AT_REST)
    expect_header(page, is_seen=True)
    body.press("?")
    expect(listed).to_contain_text("projector mode")
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    box.fill("")
    box.press_sequentially("fluffy?")  # an odd number of them: an even one would bring back what it took
    expect(box).to_have_value("fluffy?")
    expect_header(page, is_seen=True)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_the_header_waits_above_the_window_for_the_pointer_and_for_tab(visit: Visit) -> None:
    page = visit.open("/masks?projector=1", drawn="canvas")
    page.mouse.move(640, 600)
    expect_header(page, is_seen=False)
    page.mouse.move(640, 2)
    expect_header(page, is_seen=True)
    page.mouse.move(640, 600)
    expect_header(page, is_seen=False)
    keys(page, "Tab", "Tab", "Tab")  # past the link to the page and the page
    expect(menu(page).get_by_role("link", name="tfmviz")).to_be_focused()
    expect_header(page, is_seen=True)
    take_from_menu(page, "Position", "RoPE and biases")
    expect(page).to_have_url(re.compile("positions_rope.*projector=1"))


LAYOUT = """() => [...document.querySelectorAll(".stMain :is([class*=st-key-], [role=tab], .stElementContainer)")]
    .filter((node) => !node.closest(".st-key-header") && !node.querySelector(":scope > .stHtml > .hides"))
    .map((node) => {
        const { order, display, position, flexDirection } = getComputedStyle(node);
        return [node.className.match(/st-key-[\\w-]+/)?.[0] ?? node.textContent.slice(0, 30), order, display, position,
            flexDirection, node.checkVisibility()].join();
    })"""
"""How the parts of a page are laid out: all but sizes, which larger letters change."""


def test_but_for_the_header_and_the_size_of_letters_a_projector_shows_the_same_page(visit: Visit) -> None:
    for name in ("explorer", "masks", "residual_stream"):
        page = visit.open(f"/{name}", drawn="[data-testid=stMain] canvas, [data-testid=stMain] svg")
        plain = page.evaluate(LAYOUT)
        assert len(plain) > 10
        project(page)
        assert page.evaluate(LAYOUT) == plain, name


OVERLAPS = """(keys) => {
    const boxes = keys.map((key) => document.querySelector(`.st-key-${key}`).getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return keys.filter((_, n) => boxes.some((box, other) => other > n && meet(boxes[n], box)));
}"""

CUT = """() => [...document.querySelectorAll(".st-key-kind input[role=combobox]")]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.value)"""


def test_on_a_small_projector_no_choice_lies_under_another_and_menus_are_read_whole(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/step_by_step?projector=1&model=french-english", drawn=".st-key-kind")
    expect_one_line(page, "text", "models", "head")
    choices = ["text", "models", "kind", "layer", "head"]
    assert page.evaluate(OVERLAPS, choices) == []
    assert page.evaluate(CUT) == []


def test_on_a_small_projector_a_long_sentence_is_wide_and_the_matrix_in_sight(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open(f"/explorer?projector=1&text={POND.replace(' ', '+')}", drawn=".matrix-picture canvas")
    for selector, least, lowest in ((".st-key-text", 500, 100), (".matrix-picture", 400, 560)):
        box = box_of(page.locator(selector).first)
        assert box["width"] > least
        assert box["y"] < lowest
