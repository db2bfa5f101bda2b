"""Finding a Chromium, serving an app to it, and visiting that app."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, FloatRect, Locator, Page, Request, WebSocket

ROOT = Path(__file__).parents[2]
LOOKS, WRITTEN, SHIFTS = (Path(__file__).with_name(f"{name}.js") for name in ("looks", "written", "shifts"))
"""Scripts that come before a page's own: what tests ask of every page, what is written on canvases, and what moves."""

READY = "[data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"
"""Streamlit is connected and no script runs."""

HAS_ENGINE = """() => [...document.querySelectorAll(".st-key-live *")].some(({ shadowRoot }) =>
    [...(shadowRoot?.part_?.sources[0].engines.values() ?? [])].some(Boolean))"""
"""Whether a model has come that the browser computes by itself; the first key or touch asks for it."""

AT_REST = f"""() => document.querySelector("{READY}") !== null
    && document.querySelector("[data-stale=true], [data-testid=stSkeleton]") === null
    && [...document.querySelectorAll(".stVegaLiteChart, .stPlotlyChart")].every((e) => e.querySelector("svg, canvas"))
    && document.fonts.status === "loaded"
    && document.getAnimations().every((animation) => animation.playState !== "running")"""
"""No script runs, all is loaded and nothing fades in or out: sizes and colours are those that a reader sees."""

TURN = "(address) => { history.pushState({}, '', address); dispatchEvent(new PopStateEvent('popstate')); }"
"""What the browser's back button does: Streamlit looks at the address, and asks for its page."""

HEADLESS = "chromium-headless-shell"
"""Chromium's engine without its windows, as Debian has it: a visit takes a tenth less of the processor."""

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

SCHEME = """(scheme) => {
    const [ground] = /\\d+/.exec(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
    return ground > 127 === (scheme === "light");
}"""
"""The page has the colours of a scheme."""

LOCAL = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""An option with which Chromium reaches no host but this one."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running Streamlit server."""

    address: str
    process: subprocess.Popen[bytes]

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def chromium() -> str | None:
    """Path of a Chromium: the system's, else the one Playwright has fetched; None if there is neither."""
    for name in ("chromium", "chromium-browser", "google-chrome", HEADLESS):
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def serve(
    script: Path, port: int, *more: str, log: int | IO[bytes] = subprocess.DEVNULL, plain: bool = False
) -> Server:
    """Starts the app as `make app` does, or another script by `streamlit run`, and waits until it answers.

    Streamlit finds its settings in the script's folder.

    Args:
        more: options of the command.
        log: where its output goes.
        plain: the app by `streamlit run`, too.

    Raises:
        RuntimeError: it did not answer within three minutes.
    """
    options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
    other = ["streamlit", "run", script.name, *options, "--browser.gatherUsageStats=false"]
    how = ["tfmviz", f"--port={port}"] if script == ROOT / "app.py" and not plain else other
    process = subprocess.Popen([sys.executable, "-m", *how, *more], cwd=script.parent, stdout=log, stderr=log)
    server = Server(f"http://127.0.0.1:{port}", process)
    if not answers(server):
        server.kill()
        raise RuntimeError(f"{script} was not served at {server.address}.")
    return server


def answers(server: Server) -> bool:
    """Waits until it does, or has ended, or three minutes are over."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and server.process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=10):
            return True
        time.sleep(0.05)  # between two looks, not for a fixed time
    return False


def choose(page: Page, box: str, option: str | re.Pattern[str]) -> None:
    """Takes an option of a select box. A run that ends meanwhile closes the list, so it is opened until it is seen."""
    from playwright.sync_api import TimeoutError as TookTooLong

    opener, wanted = page.get_by_role("combobox", name=box), page.get_by_role("option", name=option)
    for _ in range(20):
        with suppress(TookTooLong):
            page.wait_for_function(AT_REST, timeout=5_000)
            opener.evaluate("(node) => node.scrollIntoView({ block: 'center' })", timeout=5_000)  # at an edge the menu
            opener.click(timeout=5_000)  # takes the click
            wanted.click(timeout=2_000)
            return
        page.keyboard.press("Escape")  # while a list is open, nothing else can be found
    raise AssertionError(f"The list of “{box}” does not stay open, or offers no {option}.")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def box_of(found: Locator) -> FloatRect:
    """Where something lies in the window, in pixels."""
    box = found.bounding_box()
    assert box is not None
    return box


def saved(within: Page | Locator, button: str) -> bytes:
    from playwright.sync_api import Locator

    page = within.page if isinstance(within, Locator) else within
    is_tool = button.startswith(("SVG", "PNG"))
    saves = tool(within, button) if is_tool else within.get_by_role("button", name=button, exact=True)
    with page.expect_download() as download:
        saves.click()
    return Path(download.value.path()).read_bytes()


def tool(within: Page | Locator, name: str) -> Locator:
    """A button behind a figure's "⋯", seen: "Values", or "Values: As a matrix" where a view has several figures."""
    about = name.partition(": ")[2] or "This figure"
    found = within.get_by_role("button", name=name, exact=True).first
    if not found.is_visible():
        within.get_by_role("button", name=f"More: {about}", exact=True).first.click()
    return found


def menu(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Pages")


def group_of(page: Page, name: str) -> Locator:
    """A group of the menu: its button, and the list that this opens."""
    button = page.locator("button", has_text=re.compile(f"^{name}"))
    return menu(page).locator(".groups > li").filter(has=button)


def take_from_menu(page: Page, group: str, title: str) -> None:
    """Goes to another page by the menu above."""
    group_of(page, group).get_by_role("button").click()
    group_of(page, group).get_by_role("link", name=re.compile(f"^{re.escape(title)}")).click()


def project(page: Page) -> None:
    """Fills the screen for a room, and waits until it is filled."""
    from playwright.sync_api import expect

    page.locator("body").press("f")
    page.wait_for_url(re.compile(r"projector=1"))
    expect(page.locator("html")).to_have_css("font-size", re.compile("^20"))
    page.mouse.move(2, 600)  # away from the header: without windows, a pointer that never moved is at 0, 0
    page.wait_for_function(AT_REST)


def open_tab(page: Page, title: str) -> None:
    """Opens a tab, once nothing moves under the pointer, and waits until it is the open one."""
    from playwright.sync_api import expect

    page.wait_for_function(AT_REST)
    tab = page.get_by_role("tab", name=title, exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


def open_place(page: Page, address: Mapping[str, str]) -> None:
    """Opens a tab of the page, and what is chosen within it: an inner tab, or one of several buttons."""
    tab, *within = address.values()
    open_tab(page, tab)
    panel = page.get_by_role("tabpanel")
    for title in within:
        inner = panel.get_by_role("tab", name=title, exact=True)
        panel.get_by_role("radio", name=title, exact=True).or_(inner).click()
        page.wait_for_function(AT_REST)


def assert_fits(page: Page, *others: int) -> None:
    """A page at rest is not wider than the screen. A chart may take its width a moment after the page.

    Args:
        others: widths that the window is given then, in pixels.
    """
    from playwright.sync_api import TimeoutError as TookTooLong

    for width in (None, *others):
        if width:
            page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(AT_REST)
        with suppress(TookTooLong):
            page.wait_for_function("() => looks.wider().length === 0", timeout=60_000)
        wider = page.evaluate("looks.wider()")
        assert not wider, wider


def turn(page: Page, scheme: Literal["light", "dark"]) -> None:
    """The system's colours change while the page is open."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(SCHEME, arg=scheme)


def violations(page: Page, within: str = "[data-testid=stMain]") -> list[tuple[str, list[str]]]:
    """What axe finds on a page at rest: rules, and the elements that break them.

    Streamlit's own tables cannot be given a tab stop; Chromium and Firefox give one to whatever scrolls.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.wait_for_function(AT_REST)
    axe = Axe("0") if page.evaluate("'axe' in globalThis") else Axe()  # it is read once: half a megabyte
    options = {"resultTypes": ["violations"]}  # what passes is long, and nobody asks for it
    found = axe.run(page, context=within, options=options).response["violations"]
    broken = [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found]
    return [
        (rule, nodes)
        for rule, nodes in broken
        if rule != "scrollable-region-focusable" or not all("st-emotion-cache" in node for node in nodes)
    ]


def sent_to(page: Page, address: str) -> list[str | bytes]:
    """What the browser will send over websockets with this in their address."""
    sent: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        if address in socket.url:
            socket.on("framesent", lambda said: sent.append(said))

    page.on("websocket", listen)
    return sent


class Visit:
    """A tab with the app.

    Its `complaints` are script errors, views that fail, dialogs, requests to other hosts, what the server's policy
    forbids, and buttons that mislead.
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.page.set_default_timeout(180_000)
        self.server = server
        self.complaints: list[str] = []
        self._listeners: dict[Any, Any] = {
            "pageerror": lambda error: self.complaints.append(f"script error: {error}"),
            "console": self._no_error_of_a_view_or_the_policy,
            "dialog": self._no_dialog,
            "requestfailed": self._only_local,
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)

    def _no_error_of_a_view_or_the_policy(self, message: ConsoleMessage) -> None:
        if message.type == "error" and re.search("^BidiComponent|Content Security Policy", message.text):
            self.complaints.append(message.text)

    def _no_dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _only_local(self, request: Request) -> None:
        """The browser finds no other host (`LOCAL`), so a request to one fails. To hear of all requests costs time."""
        if not request.url.startswith((self.server.address, "data:", "blob:")):
            self.complaints.append(f"outside request: {request.url}")

    def look(self) -> None:
        """Complains of buttons that mislead those who use the keyboard or a screen reader."""
        if self.page.url.startswith(self.server.address):
            self.complaints += self.page.evaluate("looks.misled()")

    def end(self) -> None:
        """Leaves the tab as it was found: empty, in light colours, with nothing stored and no pointer on it.

        Raises:
            playwright.sync_api.Error: the tab no longer answers.
        """
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        if self.page.url.startswith("http"):
            self.page.wait_for_function("() => (localStorage.clear(), sessionStorage.clear(), true)", timeout=20_000)
        self.page.goto("about:blank", timeout=20_000)
        self.page.context.clear_cookies()
        self.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        self.page.mouse.move(-1, -1)

    def open(self, address: str = "/explorer", *, drawn: str = ".tiles button") -> Page:
        """Goes to an address and waits until the page is complete and the selector `drawn` finds something."""
        self.page.goto(self.server.address + address)
        self.page.wait_for_selector(READY)
        self.page.wait_for_selector(drawn, state="attached")
        self.page.wait_for_function(AT_REST)  # a view's first report may have run the page once more
        self.look()
        return self.page

    def turn_to(self, address: str) -> Page:
        """Goes to another page without loading the app anew, as the browser's back button does, and waits for it."""
        from playwright.sync_api import expect

        title = self.page.locator("h1")
        before = title.inner_text()
        self.page.evaluate(TURN, address)
        expect(title).not_to_have_text(before)
        self.page.wait_for_function(AT_REST)
        return self.page

    def enter(self, text: str) -> None:
        self.page.wait_for_selector(".st-key-keys button", state="attached")  # it listens for Enter
        box = self.page.get_by_label("Your sentence")
        box.fill(text)
        box.press("Enter")
