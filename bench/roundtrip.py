"""How long the server keeps the reader waiting: a new sentence, another head, a changed mask.

    python -m bench.roundtrip

A new sentence is compared with an empty Streamlit page: a text box and a line of text in a process without torch, at
Streamlit's default settings. Both servers run at once and are asked in turn, in one Chromium; the medians' ratio
counts. The explorer counts as updated when all heads of the new sentence are drawn and two more frames have been
painted; the others when what Python says about them (in the sidebar, below the picture) has changed, and two more
frames have been painted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import ROOT, chromium, free_port, serve

EMPTY_PAGE = "import streamlit as st\nst.text(st.text_input('Your sentence'))\n"
WORDS = "river stone garden winter letter candle window bridge forest silver morning teacher".split()  # noqa: SIM905
SENTENCE = "the river in the garden of the old house was cold in winter and the children did not swim there until may ."

SHOWN = "tfmvizViews.explorer.view?.attention?.id"
"""Which sentence the explorer shows: it draws all heads in the moment it takes the data."""

WAIT = """
(changed) => new Promise((resolve) => {
  const begin = performance.now();
  const check = () => changed()
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begin)))
    : setTimeout(check, 2);
  check();
})
"""
"""Resolves with the milliseconds from now until `changed()` holds and two frames have been painted since."""

TEXT = "document.querySelector('[data-testid=stApp]').textContent"
"""All words that Python has written, which the views' own are not."""

WARM_UP = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, ExitStack() as stack:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY_PAGE)
        addresses = []
        for script in (ROOT / "app.py", empty):
            server = serve(script, free_port())
            stack.callback(server.process.terminate)
            addresses.append(server.address)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        app, blank = addresses
        contestants = {"explorer": sentences(browser, app, explorer=True), "empty page": sentences(browser, blank)}
        times = in_turn(contestants, rounds=args.rounds)
        report(times)
        print(f"ratio {statistics.median(times['explorer']) / statistics.median(times['empty page']):.2f}")
        explorer, masks = (f"{app}/{page}?text={SENTENCE.replace(' ', '+')}" for page in ("", "masks"))
        others = {
            "another head, 24 tokens": keys(browser, explorer, ".tiles [tabindex='0']", ("ArrowRight", "ArrowLeft")),
            "a pinned token, 24 tokens": keys(browser, explorer, ".strip [tabindex='0']", ("ArrowLeft",)),
            "a row of the mask, 24 tokens": keys(browser, masks, ".st-key-masks canvas[tabindex='0']", (), last="r"),
        }
        report(in_turn(others, rounds=args.rounds))
        browser.close()


def in_turn(contestants: dict[str, Callable[[int], float]], *, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each; every round asks each once, so that a slow moment of the machine hits all."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for round_number in range(WARM_UP + rounds):
        for name, ask in contestants.items():
            elapsed = ask(round_number)
            if round_number >= WARM_UP:
                times[name].append(elapsed)
    return times


def report(times: dict[str, list[float]]) -> None:
    for name, values in times.items():
        print(f"{name}: median {statistics.median(values):.0f} ms (from {min(values):.0f} to {max(values):.0f})")


def sentences(browser: Browser, address: str, *, explorer: bool = False) -> Callable[[int], float]:
    """Types a new sentence every time and presses Enter."""
    page = opened(browser, address)
    if explorer:
        page.wait_for_function(f"globalThis.tfmvizViews?.explorer && {SHOWN}")

    def ask(round_number: int) -> float:
        first = round_number % len(WORDS)
        sentence = " ".join([*WORDS[first:], *WORDS[:first], str(round_number)])
        page.bring_to_front()
        box = page.get_by_label("Your sentence")
        box.fill(sentence)
        if explorer:
            page.evaluate(f"window.before = {SHOWN}")
            return timed(page, f"() => {SHOWN} !== window.before")
        return timed(page, f"() => document.querySelector('[data-testid=stText]')?.textContent === {sentence!r}")

    return ask


def keys(
    browser: Browser, address: str, where: str, first: Sequence[str], *, last: str = "Enter"
) -> Callable[[int], float]:
    """Presses two keys in a part of a page, of which the last counts; the first is another one each time."""
    page = opened(browser, address)
    page.locator(where).first.wait_for()

    def ask(round_number: int) -> float:
        page.bring_to_front()
        page.locator(where).first.focus()
        if first:
            page.keyboard.press(first[round_number % len(first)])
        page.evaluate(f"window.before = {TEXT}")
        return timed(page, f"() => {TEXT} !== window.before", key=last)

    return ask


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_selector("[data-test-script-state=notRunning]")
    return page


def timed(page: Page, changed: str, *, key: str = "Enter") -> float:
    """Presses a key and returns the milliseconds until the page shows what that has changed."""
    page.evaluate(
        f"""() => {{
          window.elapsed = null;
          addEventListener("keydown", () => ({WAIT})({changed}).then((ms) => window.elapsed = ms), {{
            capture: true, once: true,
          }});
        }}"""
    )
    page.keyboard.press(key)
    page.wait_for_function("window.elapsed !== null", timeout=20_000)
    return float(page.evaluate("window.elapsed"))


if __name__ == "__main__":
    main()
