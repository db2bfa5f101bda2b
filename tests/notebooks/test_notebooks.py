"""The notebooks of the docs run without a network; VS Code and Colab show pages, as far as a browser plays them."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Route, expect

import tfmviz
from tests.browser import ROOT, SCHEMES, box_of
from tests.cases import each
from tests.views.standalone import TRACE
from tfmviz.external.page import HEIGHT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def run(notebook: Path) -> tuple[dict[str, Any], list[Any]]:
    """The names that a notebook leaves, and what each cell shows: the value of its last line."""
    names: dict[str, Any] = {}
    shown = []
    for n, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], f"cell {n} of {notebook.name} holds an output"
        tree = ast.parse("".join(cell["source"]))
        last, where = tree.body[-1], f"{notebook.name}, cell {n}"
        if isinstance(last, ast.Expr):
            tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], last.value), last)
        exec(compile(ast.fix_missing_locations(tree), where, "exec"), names)
        shown.append(names.pop("_", None))
    return names, shown


@each("notebook", NOTEBOOKS)
def test_every_cell_runs_and_pages_are_shown(notebook: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        names, shown = run(notebook)
    pages = [value for value in shown if hasattr(value, "_repr_html_")]
    assert len(pages) == {"show_attention": 5, "bring_a_model": 1}[notebook.stem]
    assert all(page._repr_html_().startswith("<iframe") for page in pages)
    if notebook.stem == "bring_a_model":
        assert abs(names["logits"] - names["trace"]["logits"]).max() < 1e-4
        assert names["change"] > 0


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

"""Their own frames, policies and ways to insert HTML; their programs cannot be installed. VS Code makes each script
anew, under the policy of `notebook.experimental.enableCsp`, stricter than what it has as it comes. Colab's frame is
sandboxed, of another origin, and as high as what stands in it."""

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
