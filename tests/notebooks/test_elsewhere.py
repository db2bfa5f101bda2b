"""A page in the output of a cell, where VS Code and Colab show one: as far as a browser alone can play them.

Their own frames, policies and ways to insert HTML are here; their programs, which cannot be installed, are not. VS Code
sets `innerHTML` in a webview and makes each script anew (`extensions/notebook-renderers`). The policy is that of its
setting `notebook.experimental.enableCsp`, stricter than what it has as it comes, and is inherited by frames with a text
of their own. Colab does the same in a sandboxed frame of another origin, as high as what stands in it.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Route, expect

import tfmviz
from tests.browser import SCHEMES, box_of
from tests.cases import each
from tests.views.standalone import TRACE
from tfmviz.external.page import HEIGHT

INSERTS = """
    addEventListener("message", ({ data }) => {
        const output = document.querySelector("#output");
        output.innerHTML = data;
        for (const old of output.querySelectorAll("script")) {
            const script = document.createElement("script");
            script.text = old.textContent;
            output.append(script);
        }
        parent.postMessage(document.documentElement.scrollHeight, "*");
    });
    parent.postMessage("ready", "*");
"""

HOST = """<!doctype html><html style="color-scheme: light dark"><body style="margin: 0">
    <iframe src="{src}" sandbox="{sandbox}" style="width: 100%; border: 0"></iframe>
    <script>
        addEventListener("message", ({ data }) => {
            if (typeof data === "number") document.querySelector("iframe").style.height = `${data}px`;
            else globalThis.isReady = true;
        });
    </script>"""

POLICY = " ".join(
    f"{name} {what};"
    for name, what in {
        "default-src": "'none'",
        "script-src": "'self' https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'",
        "style-src": "'self' https://*.vscode-cdn.net 'unsafe-inline'",
        "img-src": "'self' https://*.vscode-cdn.net https: http: data:",
        "font-src": "'self' https://*.vscode-cdn.net https:",
        "connect-src": "https:",
        "child-src": "https: data:",
    }.items()
)

PLACES = {
    "VS Code": (
        "https://webview.vscode-cdn.test/",
        "allow-scripts allow-same-origin allow-forms allow-pointer-lock allow-downloads",
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
    ),
    "Colab": (
        "https://output.googleusercontent.test/",
        "allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-same-origin "
        "allow-scripts",
        "",
    ),
}

DRAWN = """(canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size > 8"""

IS_LIGHT = """(wanted) =>
    /\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0] > 127 === wanted"""


def opened(context: BrowserContext, place: str, html: str, complaints: list[str]) -> tuple[Page, Frame]:
    """A notebook whose only cell has given this, and the frame that the page is in."""
    address, sandbox, head = PLACES[place]
    output = (
        f"<!doctype html><html><head>{head}</head><body style='margin: 0; overflow: hidden'>"
        f"<div id=output></div><script>{INSERTS}</script>"
    )
    host = HOST.replace("{src}", address).replace("{sandbox}", sandbox)

    def answer(route: Route) -> None:
        route.fulfill(body=output if route.request.url == address else host, content_type="text/html")

    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.route("**/*", answer)
    page.goto("https://notebook.test/")
    page.wait_for_function("globalThis.isReady")
    page.evaluate("(html) => document.querySelector('iframe').contentWindow.postMessage(html, '*')", html)
    inner = page.frame_locator("iframe").frame_locator("iframe[title=Attention]")
    expect(inner.locator(".tiles button").first).to_be_attached()
    return page, page.frames[-1]


@pytest.mark.browser
@each("place", list(PLACES))
def test_a_page_draws_in_the_output_of_a_cell(context: BrowserContext, place: str) -> None:
    complaints: list[str] = []
    page, frame = opened(context, place, tfmviz.show(TRACE)._repr_html_(), complaints)
    box = box_of(page.locator("iframe"))
    assert HEIGHT <= box["height"] < HEIGHT + 20
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("innerHeight") == HEIGHT
    assert frame.locator("canvas").first.evaluate(DRAWN)
    frame.get_by_role("button", name="Layer 2, head 1").click()
    expect(frame.get_by_role("button", name="Layer 2, head 1")).to_have_attribute("aria-pressed", "true")
    for scheme in SCHEMES:  # of the system; a theme of the notebook's own does not reach into the frame
        page.emulate_media(color_scheme=scheme)
        frame.wait_for_function(IS_LIGHT, arg=scheme == "light")
    assert not complaints
