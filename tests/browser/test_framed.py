"""Another site's page that opens the app, or shows it in a frame: it steers nothing."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Error, Frame, Page, Route

from tests.browser import READY, ROOT, Server, free_port, serve

EVIL = "https://evil.streamlit.app"
"""Streamlit's own answer trusts all pages of this site."""

THEIRS = {"allowedOrigins": ["https://*.streamlit.app"], "useExternalAuthToken": False}

MESSAGES: tuple[dict[str, Any], ...] = (
    {"type": "UPDATE_HASH", "hash": "#evil"},
    {"type": "SET_INPUTS_DISABLED", "disabled": True},
    {"type": "STOP_SCRIPT"},
    {"type": "CLEAR_CACHE"},
)

SAY = """([target, messages]) => {
    const app = target === "frame" ? document.querySelector("iframe").contentWindow : globalThis.opened;
    for (const message of messages) app.postMessage({ stCommVersion: 1, ...message }, "*");
    app.postMessage("said", "*");
}"""

HEARS = """addEventListener("message", ({ data }) => { if (data === "said") globalThis.heard = true; }, true)"""
"""Notes that all messages have come: they come in the order in which they are sent."""


@pytest.fixture(scope="module")
def embedded() -> Iterator[Server]:
    """The app of an owner who lets that site show it in a frame."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFMVIZ_EMBED", EVIL)
        with serve(ROOT / "app.py", free_port()) as running:
            yield running


def evil(context: BrowserContext, body: str) -> Page:
    """A page of the other site; nothing leaves this machine for it. Its reader lets it look into their own network."""
    with suppress(Error):  # an older browser has no such question
        context.grant_permissions(["local-network-access"])
    page = context.new_page()
    page.route(f"{EVIL}/**", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(f"{EVIL}/")
    return page


def steered(app: Page | Frame) -> list[str]:
    """What the messages have done to the app."""
    app.wait_for_function("() => globalThis.heard")
    app.wait_for_selector(READY, state="attached")
    address, box = app.evaluate("location.hash"), app.get_by_label("Your sentence")
    return [what for what, is_so in (("address", "evil" in address), ("box", box.is_disabled())) if is_so]


def say_all(page: Page, target: str, app: Page | Frame) -> None:
    app.wait_for_selector(READY, state="attached")
    app.wait_for_selector(".tiles button", state="attached")
    app.evaluate(HEARS)
    page.evaluate(SAY, [target, MESSAGES])


@pytest.mark.parametrize("is_trusted", [True, False], ids=["by Streamlit's own answer", "as served"])
def test_a_page_around_the_app_steers_nothing(context: BrowserContext, embedded: Server, is_trusted: bool) -> None:
    def answer(route: Route) -> None:
        route.fulfill(body=json.dumps(THEIRS), content_type="application/json")

    if is_trusted:  # what has no effect below has one here
        context.route("**/_stcore/host-config", answer)
    page = evil(context, f"<iframe src='{embedded.address}/explorer?text=The+cat' width=1200 height=800></iframe>")
    page.wait_for_selector("iframe")
    app = page.frames[1]
    say_all(page, "frame", app)
    assert steered(app) == (["address", "box"] if is_trusted else [])


def test_a_page_that_has_opened_the_app_steers_nothing(context: BrowserContext, server: Server) -> None:
    page = evil(context, "")
    with context.expect_page() as opening:
        page.evaluate("(at) => { globalThis.opened = open(at); }", f"{server.address}/explorer?text=The+cat")
    say_all(page, "opened", opening.value)
    assert steered(opening.value) == []


def test_a_site_that_the_owner_has_not_named_shows_no_app(context: BrowserContext, server: Server) -> None:
    page = evil(context, "")
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.evaluate(
            "(at) => document.body.append(Object.assign(document.createElement('iframe'), { src: at }))", server.address
        )
