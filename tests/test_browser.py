"""What only a browser shows: pictures answer pointer and keyboard, nothing comes from outside, text stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Route, expect

from tests.browser import ROOT, Server, free_port, serve

pytestmark = pytest.mark.browser

READY = "[data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"
FIGURES = ".js-plotly-plot .main-svg"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = serve(ROOT / "app.py", free_port())
    yield running
    running.process.terminate()
    running.process.wait(timeout=10)


class Visit:
    """A page of the app that fails the test when it meets a script error or asks for anything from elsewhere."""

    def __init__(self, context: BrowserContext, server: Server) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(30_000)
        self.server = server
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        self.page.on("dialog", self._no_dialog)
        self.page.route(re.compile(r"^(?!data:|blob:)"), self._only_local)

    def _no_dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _only_local(self, route: Route) -> None:
        if route.request.url.startswith(self.server.address):
            route.continue_()
        else:
            self.complaints.append(f"outside request: {route.request.url}")
            route.abort()

    def open(self, address: str = "/", *, figures: int = 2) -> Page:
        self.page.goto(self.server.address + address)
        self.settle()
        self.page.wait_for_function(f"document.querySelectorAll('{FIGURES}').length >= {figures}")
        return self.page

    def settle(self) -> None:
        self.page.wait_for_selector(READY)

    def enter(self, text: str) -> None:
        box = self.page.get_by_label("Your sentence")
        box.fill(text)
        box.press("Enter")

    def token(self, position: int) -> str:
        return f".st-key-token_strip [data-position='{position}']"


@pytest.fixture
def visit(context: BrowserContext, server: Server) -> Iterator[Visit]:
    made = Visit(context, server)
    yield made
    assert made.complaints == []


def tile(page: Page, layer: int, head: int) -> tuple[float, float]:
    """Where on the screen a thumbnail lies."""
    page.locator(".st-key-thumbnails").scroll_into_view_if_needed()
    x, y = page.evaluate(
        """([layer, head]) => {
          const figure = document.querySelector('.st-key-thumbnails .js-plotly-plot');
          const {xaxis, yaxis} = figure._fullLayout, {x, y} = figure.getBoundingClientRect();
          return [x + xaxis._offset + xaxis.d2p(head), y + yaxis._offset + yaxis.d2p(layer)];
        }""",
        [layer, head],
    )
    return x, y


def test_a_new_sentence_reaches_tokens_pictures_and_address(visit: Visit) -> None:
    page = visit.open()
    expect(page.locator(visit.token(15))).to_contain_text("bank")
    visit.enter("The dog ran home.")
    expect(page.locator(visit.token(1))).to_contain_text("dog")
    expect(page.locator(visit.token(5))).to_have_count(0)
    expect(page).to_have_url(re.compile(r"text=The\+dog\+ran\+home"))
    expect(page.locator(".st-key-head_picture .xtick text").first).to_have_text("The")


def test_the_address_restores_what_its_sender_saw(visit: Visit) -> None:
    page = visit.open("/?text=my+cat&layer=2&head=3")
    expect(page.get_by_text("Layer 2, head 3:").first).to_be_visible()
    expect(page.locator(visit.token(1))).to_contain_text("cat")


def test_pointing_at_a_thumbnail_tells_its_verdict_and_a_click_chooses_it(visit: Visit) -> None:
    page = visit.open()
    page.mouse.move(*tile(page, 3, 4))
    expect(page.locator(".st-key-thumbnails .hoverlayer")).to_contain_text("layer 3, head 4")
    page.mouse.click(*tile(page, 3, 4))
    expect(page).to_have_url(re.compile("layer=3"))
    expect(page).to_have_url(re.compile("head=4"))
    expect(page.get_by_text("Layer 3, head 4:").first).to_be_visible()


def test_pointing_at_a_cell_tells_query_key_and_weight(visit: Visit) -> None:
    page = visit.open("/?text=my+cat")
    page.locator(".st-key-head_picture").scroll_into_view_if_needed()
    x, y = page.evaluate(
        """() => {
          const figure = document.querySelector('.st-key-head_picture .js-plotly-plot');
          const {xaxis, yaxis} = figure._fullLayout, {x, y} = figure.getBoundingClientRect();
          return [x + xaxis._offset + xaxis.d2p(0), y + yaxis._offset + yaxis.d2p(1)];
        }"""
    )
    page.mouse.move(x, y)
    expect(page.locator(".st-key-head_picture .hoverlayer")).to_contain_text("“cat” looks at “my”")


def test_a_click_on_a_token_chooses_it_for_all_pictures(visit: Visit) -> None:
    page = visit.open("/?text=the+cat+sat+down")
    expect(page.locator(visit.token(3))).to_have_attribute("aria-pressed", "true")
    page.locator(visit.token(1)).click()
    expect(page.locator(visit.token(1))).to_have_attribute("aria-pressed", "true")
    expect(page.locator(visit.token(2))).to_contain_text("–")  # masked: it comes later
    expect(page.get_by_text("“cat” (token 1) looks at")).to_be_visible()
    page.get_by_role("tab", name="What comes next?").click()
    expect(page.get_by_text("probable to follow token 1;")).to_be_visible()
    expect(page).to_have_url(re.compile("view=What"))


def test_the_address_opens_the_view_its_sender_had_open(visit: Visit) -> None:
    page = visit.open("/?view=Residual+stream&text=the+cat")
    expect(page.locator(".st-key-norms .ytick text").first).to_have_text("embedding")


def test_tokens_can_be_chosen_by_keyboard(visit: Visit) -> None:
    page = visit.open("/?text=the+cat+sat+down")
    page.locator(visit.token(0)).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(visit.token(2))).to_have_attribute("aria-pressed", "true")


def test_markup_and_scripts_are_shown_as_text(visit: Visit) -> None:
    page = visit.open("/?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20%24x%24%20**b**")
    label = page.locator(".st-key-token_strip .label")
    assert "".join(label.all_inner_texts()).startswith("<img")
    assert page.locator("[data-testid=stMain] img").count() == 0
    assert page.locator(".katex").count() == 0
    expect(page.locator(".st-key-head_picture .xtick text").first).to_have_text("<")


def test_an_empty_box_keeps_the_pictures(visit: Visit) -> None:
    page = visit.open("/?text=the+cat")
    visit.enter("")
    expect(page.get_by_text("Type a sentence: there is nothing to look at")).to_be_visible()
    expect(page.locator(visit.token(1))).to_contain_text("cat")


def test_two_tabs_keep_their_own_sentence(context: BrowserContext, server: Server) -> None:
    one, other = Visit(context, server), Visit(context, server)
    first, second = one.open("/?text=the+cat"), other.open("/?text=my+dog")
    second.locator(other.token(0)).click()
    expect(second.locator(other.token(0))).to_have_attribute("aria-pressed", "true")
    expect(first.locator(one.token(1))).to_have_attribute("aria-pressed", "true")
    expect(first.locator(one.token(1))).to_contain_text("cat")
    assert one.complaints + other.complaints == []


def test_a_page_opened_by_its_file_name_still_has_the_sidebar(visit: Visit) -> None:
    page = visit.open("/explorer")
    expect(page.get_by_test_id("stSidebar").get_by_text("Head", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(browser: Browser, server: Server, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    visit = Visit(context, server)
    page = visit.open()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width
    assert visit.complaints == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_the_ground_in_both_modes(browser: Browser, server: Server, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    visit = Visit(context, server)
    page = visit.open("/?text=the+cat")
    ink, ground = page.evaluate(
        """() => [
          getComputedStyle(document.querySelector('.st-key-head_picture .xtick text')).fill,
          getComputedStyle(document.querySelector('.stApp')).backgroundColor,
        ]"""
    )
    assert contrast(ink, ground) >= 7
    assert visit.complaints == []
    context.close()


def test_a_figure_is_saved_as_svg(visit: Visit) -> None:
    page = visit.open("/?text=the+cat")
    page.locator(".st-key-head_picture").hover()
    with page.expect_download() as download:
        page.locator(".st-key-head_picture .modebar-btn").first.click()
    assert download.value.suggested_filename == "tfmviz.svg"
    assert "the" in download.value.path().read_text(encoding="utf-8")


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two "rgb(…)" colours, 1 to 21."""

    def luminance(colour: str) -> float:
        channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
