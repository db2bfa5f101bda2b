"""The explorer on the page that needs no server, opened in a browser."""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from tests.browser import ROOT
from tests.node import VIEWS, node
from tests.traces import decoder, translation
from tfmviz import views
from tfmviz.record.trace import Trace
from tfmviz.views.explorer import STANDALONE_JS

TOKENS = ("The", " animal", " was", " tired", " and", " slow", ".")
TRACE = decoder(TOKENS, layers=3, heads=3)
SOURCE = ("J", "'ai", " une", " voiture", " rouge")
CROSS = translation(SOURCE, ("<|endoftext|>", "I", " have", " a", " red", " car", "."))
LENGTH = len(TOKENS)

INSIDES = """
import { explorer } from "./explorer/standalone.ts";
globalThis.insides = { explorer };
"""

BUNDLING = f"""
const {{ build }} = await import("{(ROOT / "node_modules/esbuild/lib/main.js").as_uri()}");
const stdin = {{ contents: {json.dumps(INSIDES)}, resolveDir: {json.dumps(str(VIEWS))} }};
const made = await build({{ stdin, bundle: true, format: "esm", charset: "utf8", write: false }});
process.stdout.write(made.outputFiles[0].text);
"""


@cache
def _script_with_insides() -> str:
    bundled = node("--input-type=module", "--eval", BUNDLING)
    assert bundled.returncode == 0, bundled.stderr
    return bundled.stdout


class Standalone:
    """Opens traces as pages in files; fails the test on script errors and on any request for something else."""

    def __init__(self, context: BrowserContext, folder: Path) -> None:
        self.page: Page = context.new_page()
        self.folder = folder
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        self.page.on("console", self._note_error)
        self.page.on("request", self._note)

    def _note_error(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _note(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")) and request.url != self.address:
            self.complaints.append(f"request: {request.url}")

    def open(self, trace: Trace = TRACE, *, insides: bool = False, title: str = "") -> Page:
        """`insides` lets the test call the explorer's functions, which the page's policy forbids, so it is removed."""
        text = views.html(trace, title=title)
        if insides:
            text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
            text = text.replace(STANDALONE_JS, _script_with_insides())
        path = self.folder / "attention.html"
        path.write_text(text, encoding="utf-8")
        self.address = path.as_uri()
        self.page.goto(self.address)
        expect(self.page.locator(".tiles button").first).to_be_attached()
        return self.page


def tile(page: Page, layer: int, head: int) -> Locator:
    return page.locator(".tiles").get_by_role("button", name=f"Layer {layer}, head {head}")


def chosen_heads(page: Page) -> list[str]:
    """Layer and head of each, as in "2.1"."""
    pressed = page.locator(".tiles [aria-pressed=true]").evaluate_all("all => all.map((node) => node.ariaLabel)")
    return [".".join(re.findall(r"\d+", name)[:2]) for name in pressed]


def strip_numbers(page: Page, strip: int = 0) -> list[str]:
    return page.locator(".strip").nth(strip).locator(".weight").all_text_contents()


def as_strip(weights: Sequence[float]) -> list[str]:
    return ["1.0" if w >= 0.995 else "·" if w < 0.005 else f"{w:.2f}"[1:] for w in weights]


def said(page: Page) -> str:
    return page.locator(".spoken").inner_text()


CENTRE = """([row, column]) => {
  const {node, left, top, cell} = insides.explorer.matrix, {x, y} = node.getBoundingClientRect();
  return [x + left + (column + .5) * cell - node.scrollLeft, y + top + (row + .5) * cell - node.scrollTop];
}"""


def centre_of_cell(page: Page, row: int, column: int) -> tuple[float, float]:
    page.locator(".matrix-picture").scroll_into_view_if_needed()
    x, y = page.evaluate(CENTRE, [row, column])
    return x, y
