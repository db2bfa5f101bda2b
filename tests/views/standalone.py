"""The explorer on the page that needs no server, opened in a browser."""

import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from tests.traces import decoder, translation
from tfmviz import views
from tfmviz.record.trace import Trace

TOKENS = ("The", " animal", " was", " tired", " and", " slow", ".")
TRACE = decoder(TOKENS, layers=3, heads=3)
SOURCE = ("J", "'ai", " une", " voiture", " rouge")
CROSS = translation(SOURCE, ("<|endoftext|>", "I", " have", " a", " red", " car", "."))
LENGTH = len(TOKENS)


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

    def open(self, trace: Trace = TRACE, *, title: str = "") -> Page:
        path = self.folder / "attention.html"
        path.write_text(views.html(trace, title=title), encoding="utf-8")
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


CELL = """(start) => {
  const picture = document.querySelector(".matrix-picture"), canvas = picture.querySelector("canvas");
  const tip = document.querySelector(".tip"), box = picture.getBoundingClientRect();
  const point = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, bubbles: true }));
  for (let y = box.bottom - 3; y > box.top; y -= 6) {
    for (let x = box.right - 3; x > box.left; x -= 6) {
      point("pointermove", x, y);
      if (tip.textContent.startsWith(start)) {
        point("pointerleave", 0, 0);
        return [x - 4, y - 4];
      }
    }
  }
}"""
"""Where a cell is, found by pointing everywhere."""


def point_at(page: Page, said: str) -> tuple[float, float]:
    """Moves the pointer to the cell whose sentence begins so, and returns where that is."""
    page.locator(".matrix-picture").scroll_into_view_if_needed()
    x, y = page.evaluate(CELL, said)
    page.mouse.move(x, y)
    return x, y
