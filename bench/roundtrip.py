"""From pressing Enter on a new sentence to the updated pictures, against an empty Streamlit page.

    python -m bench.roundtrip

Both servers run at once and are asked in turn, in one Chromium; the medians' ratio counts. The empty page is a text box
and a line of text in a process without torch, at Streamlit's default settings. The explorer counts as updated when all
heads of the new sentence are drawn and two more frames have been painted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser import ROOT, chromium, free_port, serve

EMPTY_PAGE = "import streamlit as st\nst.text(st.text_input('Your sentence'))\n"
WORDS = "river stone garden winter letter candle window bridge forest silver morning teacher".split()  # noqa: SIM905

# Resolves with the milliseconds from now until `changed()` holds and two frames have been painted since.
WAIT = """
(changed) => new Promise((resolve) => {
  const begin = performance.now();
  const check = () => changed()
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begin)))
    : setTimeout(check, 2);
  check();
})
"""
# Which sentence the explorer shows: it draws all heads in the moment it takes the data.
SHOWN = "tfmvizViews.explorer.view?.attention?.id"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY_PAGE)
        servers = [serve(ROOT / "app.py", free_port()), serve(empty, free_port())]
        try:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            pages = []
            for server in servers:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(server.address)
                page.wait_for_selector("[data-test-script-state=notRunning]")
                pages.append(page)
            pages[0].wait_for_function(f"globalThis.tfmvizViews?.explorer && {SHOWN}")
            times: dict[str, list[float]] = {"explorer": [], "empty page": []}
            for round_number in range(3 + args.rounds):
                sentence = " ".join(WORDS[round_number % 12 :] + WORDS[: round_number % 12])
                for name, page in zip(times, pages, strict=True):
                    page.bring_to_front()
                    elapsed = enter(page, f"{sentence} {round_number}", explorer=name == "explorer")
                    if round_number >= 3:
                        times[name].append(elapsed)
            medians = {name: statistics.median(values) for name, values in times.items()}
            for name, values in times.items():
                print(f"{name}: median {medians[name]:.0f} ms (from {min(values):.0f} to {max(values):.0f})")
            print(f"ratio {medians['explorer'] / medians['empty page']:.2f}")
            browser.close()
        finally:
            for server in servers:
                server.process.terminate()


def enter(page: Page, sentence: str, *, explorer: bool) -> float:
    """Types a sentence, presses Enter and returns the milliseconds until the page shows it."""
    box = page.get_by_label("Your sentence")
    box.fill(sentence)
    if explorer:
        page.evaluate(f"window.before = {SHOWN}")
        changed = f"() => {SHOWN} !== window.before"
    else:
        changed = f"() => document.querySelector('[data-testid=stText]')?.textContent === {sentence!r}"
    page.evaluate(
        f"""() => {{
          window.elapsed = null;
          addEventListener("keydown", () => ({WAIT})({changed}).then((ms) => window.elapsed = ms), {{
            capture: true, once: true,
          }});
        }}"""
    )
    box.press("Enter")
    page.wait_for_function("window.elapsed !== null", timeout=20_000)
    return float(page.evaluate("window.elapsed"))


if __name__ == "__main__":
    main()
