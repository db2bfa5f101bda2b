"""The README's moving picture: a sentence is typed into the explorer, two of its words and one head are clicked.

python -m scripts.film docs/explorer.webp
"""

from __future__ import annotations

import argparse
import io
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from tests.browser import AT_REST, HAS_ENGINE, ROOT, chromium
from tests.classroom.crowd import running

START, SENTENCE = "The animal didn't", "The animal didn't cross the street because it was too tired."

OPENS_AT = "/explorer?text=The+animal+didn%27t&layer=1&head=2"

SIZE = {"width": 1120, "height": 700}
SHOWN = (960, 600)
"""Pixels of the picture: as wide as a README is shown."""

TOKENS = "globalThis.tfmvizViews.explorer.view.attention.texts.target.tokens.join('')"

POINTER = """() => {
    const arrow = document.createElement("div");
    arrow.id = "pointer";
    arrow.style = `position: fixed; z-index: 2147483647; width: 22px; height: 30px; pointer-events: none;
        filter: drop-shadow(0 0 1px white) drop-shadow(0 1px 2px #0008); background: black; left: -40px; top: 0;
        clip-path: polygon(0 0, 0 78%, 26% 62%, 44% 100%, 58% 94%, 42% 58%, 78% 58%)`;
    document.body.append(arrow);
    addEventListener("pointermove", ({ clientX, clientY }) =>
        Object.assign(arrow.style, { left: `${clientX}px`, top: `${clientY}px` }), true);
}"""
"""Screenshots have no pointer, so the page draws one."""


@dataclass
class Film:
    """Pictures of a page, each with the milliseconds for which it is shown."""

    page: Page
    pictures: list[Image.Image] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    pointer: tuple[float, float] = (700, 430)

    def shoot(self, duration: int) -> None:
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.pictures.append(picture.resize(SHOWN, Image.Resampling.LANCZOS))
        self.durations.append(duration)

    def type(self, text: str) -> None:
        """A picture after every second key, once the heads are those of the text so far. Enter is never pressed."""
        box = self.page.get_by_label("Your sentence")
        box.press("End")
        so_far = box.input_value()
        for n, letter in enumerate(text):
            box.press(letter)
            so_far += letter
            self.page.wait_for_function(f"(text) => {TOKENS} === text", arg=so_far)
            if n % 2 or n == len(text) - 1:
                self.shoot(130)

    def click(self, what: Locator, duration: int) -> None:
        """Moves the pointer there in six steps, and clicks."""
        what.scroll_into_view_if_needed()
        area = what.bounding_box()
        assert area is not None
        way = [self.pointer, (area["x"] + area["width"] / 2, area["y"] + area["height"] * 0.6)]
        for (x, y), (to_x, to_y) in pairwise(way):
            for step in range(1, 7):
                share = step / 6
                share = share * share * (3 - 2 * share)  # slow at both ends
                self.page.mouse.move(x + share * (to_x - x), y + share * (to_y - y))
                self.shoot(50)
        self.pointer = way[-1]
        self.page.mouse.down()
        self.page.mouse.up()
        self.page.wait_for_function(AT_REST)
        self.shoot(duration)

    def save(self, out: Path) -> None:
        first, *others = self.pictures
        settings: dict[str, Any] = {"duration": self.durations, "loop": 0, "quality": 55, "method": 4}
        settings |= {"kmin": 9_999, "kmax": 10_000}  # no key frames: half a megabyte less
        first.save(out, save_all=True, append_images=others, **settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    with running(ROOT / "app.py") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")  # type: ignore[arg-type]
        page.goto(f"{server.address}{OPENS_AT}")
        page.wait_for_function(AT_REST)
        page.get_by_label("Your sentence").press("End")
        page.keyboard.type(" ")
        page.wait_for_function(HAS_ENGINE)
        page.keyboard.press("Backspace")
        page.wait_for_function(f"(text) => {TOKENS} === text", arg=START)
        page.evaluate(POINTER)
        film = Film(page)
        film.shoot(1_000)
        film.type(SENTENCE.removeprefix(START))
        before = page.url
        page.keyboard.press("Enter")
        page.wait_for_function("(before) => location.href !== before", arg=before)
        page.wait_for_function(AT_REST)
        film.shoot(900)
        words = page.locator(".strip:visible button")
        film.click(words.filter(has_text="it").last, 700)
        film.click(words.filter(has_text="animal"), 1_200)
        heads = page.get_by_role("group", name="Which head links two words?").get_by_role("button")
        film.click(heads.first, 3_500)
        browser.close()
    film.save(out)


if __name__ == "__main__":
    main()
