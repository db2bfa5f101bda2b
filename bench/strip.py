"""What a reader sees while typing: five pictures of the explorer, one below the other, in a PNG.

python -m bench.strip OUT.png
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from bench.roundtrip import APP, SHOWN, box, settled
from tests.browser import HAS_ENGINE, chromium
from tests.classroom.crowd import running

TEXTS = ("The", "The animal", "The animal didn't", "The animal didn't cross", "The animal didn't cross the street")

AREA = {"x": 0, "y": 48, "width": 1280, "height": 672}
"""Of a window of 1280 × 720 pixels: the sentence and the heads, without the header."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    with running(APP) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = settled(browser, f"{server.address}/explorer")
        box(page).fill("A")
        page.wait_for_function(HAS_ENGINE)
        frames = [typed(page, text) for text in TEXTS]
        browser.close()
    strip = Image.new("RGB", (frames[0].width, sum(frame.height for frame in frames)))
    for n, frame in enumerate(frames):
        strip.paste(frame, (0, n * frame.height))
    strip.save(out)


def typed(page: Page, text: str) -> Image.Image:
    """The page as soon as it shows the text. Nobody presses Enter."""
    before = page.evaluate(SHOWN)
    box(page).fill(text)
    page.wait_for_function(f"(before) => {SHOWN} !== before", arg=before)
    return Image.open(io.BytesIO(page.screenshot(clip=AREA)))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
