"""A reader whose server ends and starts again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import ROOT, Visit, free_port, serve

pytestmark = pytest.mark.browser

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


def test_a_sentence_that_comes_before_the_servers_first_run_is_read(visit: Visit) -> None:
    """The server knows nothing of the page yet, and Streamlit lets fall what is asked of a part of it."""
    port = free_port()
    visit.server = serve(ROOT / "app.py", port)
    try:
        page = visit.open("/residual_stream?text=The+cat+sat.", drawn="[data-testid=stMain] h1")
        page.wait_for_selector(".st-key-keys button", state="attached")  # it notices the return
        page.get_by_label("Your sentence").evaluate(TYPE_ON_RETURN, "A dog ran home.")
        visit.server.process.kill()
        visit.server.process.wait()
        visit.server = serve(ROOT / "app.py", port)
        expect(page.get_by_test_id("stMain")).to_contain_text("“A”")  # a sentence about the first token
    finally:
        visit.server.process.kill()
        visit.server.process.wait()
