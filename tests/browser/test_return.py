"""A reader whose server ends and starts again, and one who goes back: the page stands as it was."""

import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import AT_REST, READY, ROOT, Visit, free_port, menu, serve, take_from_menu
from tests.browser.test_live import SAVES_DATA, shows

TYPE_ON_RETURN = """(box, text) => {
    const app = document.querySelector("[data-test-connection-state]");
    const state = () => app.getAttribute("data-test-connection-state");
    const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
    const enter = new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true});
    const type = () => {
        set.call(box, text);
        box.dispatchEvent(new InputEvent("input", {bubbles: true}));
        setTimeout(() => box.dispatchEvent(enter));
    };
    let before = state();
    new MutationObserver(() => {
        if (before !== "CONNECTED" && state() === "CONNECTED") setTimeout(type);
        before = state();
    }).observe(app, {attributeFilter: ["data-test-connection-state"]});
}"""
"""Types a sentence and presses Enter at the moment at which the lost connection is there again."""

SAID_AT = """() => {
    const said = () => [...document.querySelectorAll(".st-key-frame *")].some(({ shadowRoot }) =>
        [...(shadowRoot?.querySelectorAll("p") ?? [])].some((p) => p.textContent.startsWith("Connection lost.")));
    globalThis.saidAt = new Promise((resolve) => {
        const look = setInterval(() => said() && (clearInterval(look), resolve(Date.now())), 10);
    });
}"""
"""Notes when the page says that the connection is lost."""


@pytest.mark.parametrize("entered", [False, True])
def test_no_key_is_lost_while_the_server_is_away_and_the_page_goes_on_with_the_text(
    context: BrowserContext, entered: bool
) -> None:
    port = free_port()
    visit = Visit(context.new_page(), serve(ROOT / "app.py", port))
    try:
        page = visit.open("/explorer?text=The+cat")
        page.evaluate(SAVES_DATA)  # no engine here
        page.evaluate(SAID_AT)
        box = page.get_by_label("Your sentence")
        box.press("End")
        page.keyboard.type(" sat")
        shows(page, "The cat sat")
        killed = time.time()
        visit.server.process.kill()
        page.keyboard.type(" on the ")  # into what has the focus: nobody clicks the box again
        assert page.evaluate("globalThis.saidAt") / 1000 - killed < 2
        page.keyboard.type("mat")
        page.wait_for_event("requestfailed", lambda request: "health" in request.url)  # Streamlit asks again and again
        page.keyboard.type(".")
        if entered:
            page.keyboard.press("Enter")
        expect(box).to_have_value("The cat sat on the mat.")
        visit.server.process.wait()
        visit.server = serve(ROOT / "app.py", port)
        page.wait_for_selector(READY, state="attached")
        expect(page.get_by_text("Connection lost.")).to_have_count(0)
        shows(page, "The cat sat on the mat.")
        expect(box).to_have_value("The cat sat on the mat.")
        if not entered:
            box.press("Enter")
        page.wait_for_url(re.compile("mat"))
        page.wait_for_function(AT_REST)
        expect(page.get_by_text("Most probable next tokens:").first).to_be_visible()
        shows(page, "The cat sat on the mat.")
    finally:
        visit.server.kill()


def test_a_sentence_that_comes_before_the_servers_first_run_is_read(visit: Visit) -> None:
    """The server knows nothing of the page yet, and Streamlit lets fall what is asked of a part of it."""
    port = free_port()
    visit.server = serve(ROOT / "app.py", port)
    try:
        page = visit.open("/residual_stream?text=The+cat+sat.", drawn="[data-testid=stMain] h1")
        page.wait_for_selector(".st-key-keys button", state="attached")  # it notices the return
        page.get_by_label("Your sentence").evaluate(TYPE_ON_RETURN, "A dog ran home.")
        visit.server.kill()
        visit.server = serve(ROOT / "app.py", port)
        expect(page.get_by_test_id("stMain")).to_contain_text("“A”")  # a sentence about the first token
    finally:
        visit.server.kill()


def expect_choices(page: Page, title: str, *, model: str, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_role("button", name=f"Model: {model}")).to_be_visible()
    expect(page.get_by_label("Your sentence")).to_have_value(text)
    page.wait_for_function(AT_REST)


def go_back_to(page: Page, name: str) -> None:
    """Presses the back button until the address is that of a page: a sentence of a page is an entry of its own.

    Each time it waits for the entry's sentence: of two presses at once, Streamlit may forget the second.
    """
    for _ in range(5):
        page.wait_for_function(AT_REST)
        page.go_back()
        if f"/{name}" in page.url:
            return
        (text,) = parse_qs(urlsplit(page.url).query)["text"]
        expect(page.get_by_label("Your sentence")).to_have_value(text)
    raise AssertionError(f"{name} is not among the last addresses.")


def test_sentence_and_model_go_along_stand_as_they_were_and_a_page_of_translators_finds_one(visit: Visit) -> None:
    page = visit.open("/masks?model=reverse&text=abc", drawn="canvas")
    visit.enter("abcdefg")
    expect(page).to_have_url(re.compile("text=abcdefg"))
    page.evaluate("globalThis.isTheSame = true")
    take_from_menu(page, "Attention", "Step by step")
    expect_choices(page, "Step by step", model="Letters backwards", text="abcdefg")
    expect(page).to_have_url(re.compile("step_by_step.*text=abcdefg.*model=reverse"))
    assert page.evaluate("globalThis.isTheSame"), "nothing is loaded anew"
    other = menu(page).get_by_role("link", name="Lectures")
    other.dispatch_event("pointerdown")  # of any button of a mouse: the middle one opens another tab
    expect(other).to_have_attribute("href", re.compile("model=reverse"))
    visit.enter("hijk")
    expect(page.get_by_role("button", name="i → h")).to_be_visible()  # who goes back sooner may meet the answer there
    go_back_to(page, "masks")
    expect_choices(page, "Masks", model="Letters backwards", text="abcdefg")
    visit.turn_to("/translating")
    expect(page.get_by_role("button", name="Model: French to English")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
