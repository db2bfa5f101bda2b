"""What only a browser shows of the explorer: pointer and keyboard, the window, its bar; text stays text."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser import AT_REST, Server, Visit, box_of, saved, sent_to, tool


def token(page: Page, position: int) -> Locator:
    return page.locator(f".strip:visible [data-position='{position}']")


def tile(page: Page, layer: int, head: int) -> Locator:
    return page.locator(".tiles").get_by_role("button", name=f"Layer {layer}, head {head}")


def shown(page: Page) -> Locator:
    return page.locator(".headline strong")


def test_a_copied_link_shows_the_same_in_another_browser(context: BrowserContext, server: Server) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit = Visit(context.new_page(), server)
    page = visit.open("/explorer?text=the+cat+sat+down")
    tile(page, 3, 4).click()
    tile(page, 3, 5).click(modifiers=["Shift"])
    page.locator(".column.key button").nth(1).click()
    page.get_by_text("Filters and colours").click()
    page.get_by_label("without the first token").check()
    expect(page).to_have_url(re.compile("(?=.*look=.*first)(?=.*head=[45])"))
    expect(shown(page)).to_have_text("Layer 3, heads 4, 5")
    page.wait_for_function(AT_REST)
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = Visit(context.new_page(), server)
    second = other.open(link.removeprefix(server.address))
    expect(shown(second)).to_have_text("Layer 3, heads 4, 5")
    expect(second.locator(".column.key button").nth(1)).to_have_attribute("aria-pressed", "true")
    expect(second.get_by_text("Filters and colours: without the first token")).to_be_visible()
    expect(second.locator(".spoken")).to_have_text(page.locator(".spoken").inner_text())
    assert visit.complaints + other.complaints == []


def test_what_is_chosen_in_the_picture_reaches_address_and_the_other_pictures(visit: Visit) -> None:
    page = visit.open("/explorer?text=the+cat+sat+down")
    for head in (0, 7, 3, 6, 4):
        tile(page, head % 6, head).click()
    expect(shown(page)).to_have_text("Layer 4, head 4")
    expect(page).to_have_url(re.compile("layer=4"))
    expect(page).to_have_url(re.compile("head=4"))
    for pinned, at in ((True, 1), (False, 3), (True, 1)):
        token(page, 1).click()
        expect(page.get_by_text(f"most probable words at token {at}")).to_be_visible()
        (expect(page).to_have_url if pinned else expect(page).not_to_have_url)(re.compile("token="))
    visit.enter("my dog ran home today")
    expect(token(page, 4)).to_contain_text("today")
    expect(page).not_to_have_url(re.compile("token="))
    expect(token(page, 1)).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_text("most probable words at token 4")).to_be_visible()


def test_pointing_and_walking_through_layers_say_nothing_to_the_server(visit: Visit) -> None:
    frames = sent_to(visit.page, "/")
    with visit.page.expect_websocket(lambda socket: "_stcore" in socket.url) as connected:
        page = visit.open("/explorer?text=the+cat+sat+down&layer=2&head=3")
    assert frames, "the page's websocket is watched"
    frames.clear()
    for head in range(8):
        tile(page, 2, head).hover()
    for position in range(4):
        token(page, position).hover()
    page.locator(".matrix-picture").hover()
    assert frames == []
    page.locator(".strip:visible button").first.focus()
    two = "[1, 2].forEach(() => node.dispatchEvent(new KeyboardEvent('keydown', { key: ']', bubbles: true })))"
    with connected.value.expect_event("framesent"):  # Python hears of it once, at rest
        page.locator(".strip:visible button").first.evaluate(f"(node) => {two}")  # in one breath
    expect(shown(page)).to_have_text("Layer 4, head 3")
    expect(page).to_have_url(re.compile("layer=4"))
    assert len(frames) == 1


def test_markup_and_scripts_are_shown_as_text(visit: Visit) -> None:
    text = quote("<img src=x onerror=alert(1)> $x$ **b**")
    for address, shown, label in (
        ("/explorer?guess=1&", ".tiles button", ".strip .label"),  # and in the question
        ("/step_by_step?", ".steps .words", ".tokens button"),
        ("/masks?effect=Reach&", ".lab .count", ""),  # on canvases
        ("/residual_stream?stream=Logit+lens&", ".lens td button", ".lens tbody th"),
    ):
        page = visit.open(f"{address}text={text}", drawn=shown)
        if label:
            expect(page.locator(label).first).to_contain_text("<")
        expect(page.locator("[data-testid=stMain] :is(img, .katex)")).to_have_count(0)


def test_the_bytes_of_a_character_stand_under_one_bracket(visit: Visit) -> None:
    text = "老王 批评 老李"
    strip = visit.open(f"/explorer?text={quote(text)}&model=tiny-english").locator(".strip:visible")
    over, letters = strip.locator(".over"), text.replace(" ", "")
    expect(strip.locator(".byte")).to_have_count(len(letters.encode()))
    expect(over.filter(has_text=re.compile(r"\S"))).to_have_text(list(letters))
    for name in ("老, byte 1 of 3", "王, byte 3 of 3"):
        expect(strip.get_by_role("button", name=name).first).to_be_visible()
    box, beside = (box_of(strip.locator(".byte .over").nth(n)) for n in (0, 1))
    assert box["x"] + box["width"] >= beside["x"], "the line is broken between two bytes"


def test_heads_of_a_long_text_are_fetched_when_they_are_looked_at(visit: Visit) -> None:
    page = visit.open(f"/explorer?text={'+'.join(f'word{n}' for n in range(200))}&layer=1&head=2")
    explorer, waiting = page.locator(".explorer"), re.compile("waiting")
    expect(page.locator(".spoken")).to_contain_text("looks at")
    page.evaluate(LOSE_THE_NEXT)
    tile(page, 4, 5).click()
    page.wait_for_function("() => globalThis.isLost")
    expect(explorer).to_have_class(waiting)
    expect(explorer).not_to_have_class(waiting)
    expect(shown(page)).to_have_text("Layer 4, head 5")
    first = page.locator(".spoken").inner_text()
    page.get_by_label("What is shown").select_option("rollout")
    expect(shown(page)).to_have_text("Attention rollout up to layer 4")
    expect(explorer).not_to_have_class(waiting)
    expect(page.locator(".spoken")).not_to_have_text(first)
    page.get_by_role("button", name="Previous layer").click()
    page.get_by_label("What is shown").select_option("heads")
    page.get_by_role("button", name="Add heads").click()
    tile(page, 2, 1).click()
    page.locator("h1").hover()
    expect(shown(page)).to_have_text("Heads 3.5, 2.1")
    expect(explorer).not_to_have_class(waiting)
    for position in (7, 3):
        token(page, position).click()
    linking = page.get_by_role("group", name="Which head links two words?").get_by_role("button").first
    expect(linking).to_have_text(re.compile(r"layer \d, head \d [\d.]+"))


LOSE_THE_NEXT = """() => {
    const { view } = globalThis.tfmvizViews.explorer;
    view.select = () => { delete view.select; globalThis.isLost = true; };
}"""
"""The next answer of the page around does not reach the view."""


def test_everything_is_taken_away_as_files(visit: Visit) -> None:
    page = visit.open("/explorer?text=the+cat&view=Take+it+away")
    for button, name, part in (
        ("The explorer as a page", "attention.html", b"Content-Security-Policy"),
        ("This layer as CSV", "attention.csv", b", cat,"),
        ("All layers as NPZ", "attention.npz", b"decoder.3.self_attn.pattern"),
    ):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        assert part in download.value.path().read_bytes()


def test_a_figures_bar_gives_values_and_the_whole_screen_and_the_keyboard_leaves_both(visit: Visit) -> None:
    page = visit.open("/explorer?text=The+river+bank")
    tool(page, "Values: As a matrix").focus()
    page.keyboard.press("Enter")
    rows = page.locator("dialog table tbody tr")
    expect(rows).to_have_count(3)
    sums = [sum(map(float, filter(None, row.locator("td").all_inner_texts()))) for row in rows.all()]
    assert sums == pytest.approx([1, 1, 1], abs=0.01)
    lines = saved(page.locator("dialog"), "CSV").decode().splitlines()
    assert lines[0] == "query,0 The,1 river,2 bank"
    assert lines[1].endswith(",1,,")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.values")).to_have_count(0)
    expect(page.get_by_role("button", name="More: As a matrix")).to_be_focused()
    before = box_of(page.locator(".matrix-picture"))
    tool(page, "Full screen: As a matrix").click()
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.wait_for_function(
        "(width) => document.fullscreenElement.shadowRoot.querySelector('.matrix-picture').clientWidth > width",
        arg=before["width"],
    )
    tool(page, "Values: As a matrix")
    sizes = page.locator(".panel.matrix .tfmviz-bar button").evaluate_all(
        "nodes => nodes.map((node) => Math.min(node.offsetWidth, node.offsetHeight))"
    )
    assert min(sizes) >= 24
    page.evaluate("document.exitFullscreen()")  # as Escape does outside of a test
    page.wait_for_function("() => document.fullscreenElement === null")


@pytest.mark.parametrize("width", [390, 1024])
def test_the_head_that_links_two_words_is_in_sight_once_both_are_chosen(visit: Visit) -> None:
    page = visit.open("/explorer")
    words = page.locator(".strip:visible button")
    words.filter(has_text="it").last.scroll_into_view_if_needed()
    words.nth(8).click()
    words.nth(1).click()
    best = page.get_by_role("group", name="Which head links two words?").get_by_role("button").first
    expect(best).to_be_in_viewport(ratio=1)
    best.click()
    expect(page.locator(".headline strong")).to_have_text("Layer 3, head 2")
    expect(page).to_have_url(re.compile("token=8.*to=1"))
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("to="))


@pytest.mark.parametrize("width", [1024, 1280])
def test_the_last_row_of_the_matrix_is_in_sight(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 768})
    page = visit.open("/explorer")
    expect(page.locator(".matrix-picture")).to_be_in_viewport(ratio=1)
    scrolls = "(node) => node.scrollHeight > node.clientHeight + 1"
    assert not page.locator(".matrix-picture").evaluate(scrolls)
    assert not page.locator(".headline").evaluate(scrolls)
