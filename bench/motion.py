"""The smoothness of moving pictures: the work of the page's main thread in the 300 ms after a touch.

    python -m bench.motion [--rounds 8] [--address http://127.0.0.1:8501]

A task that takes longer than two frames, 33 ms, is visible. Each line is one thing that moves, on tiny-english with a
sentence of 22 tokens: the frames, and the tasks of Chromium's trace in milliseconds of processor time, since on a busy
machine the clock also counts waiting for other processes. Streamlit's drawing of its page is among them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from bench.roundtrip import APP
from tests.browser import AT_REST, chromium
from tests.classroom.crowd import running

TEXT = "The old man who lived in the house by the river said that the dog was too tired to cross the street."
MOST_MS, LASTS_MS = 33, 300

Touch = Callable[[int], object]


def moves(page: Page) -> Iterator[tuple[str, dict[str, str], Touch]]:
    """Moving things: the page, its choices, and the n-th touch."""
    tiles, words = page.locator(".tiles button"), page.locator(".lab .sentence button")
    slider, ways = page.locator(".turning input[type=range]").first, page.locator(".way .step")
    turn = "(node, n) => { node.value = 5 + 3 * n; node.dispatchEvent(new Event('input', { bubbles: true })); }"
    yield "explorer", {}, lambda n: tiles.nth(5 + 5 * n % 43).click()
    yield "masks", {}, lambda n: words.nth(2 + n).click()
    yield "step_by_step", {"stage": "scores"}, lambda n: ways.nth((n + 1) % 2).click()
    yield "positions_rope", {}, lambda n: slider.evaluate(turn, n)


def watched(page: Page, touch: Touch, n: int) -> tuple[int, list[float]]:
    """The number of frames, and the time of each task."""
    browser = page.context.browser
    assert browser is not None
    page.wait_for_function(AT_REST)
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    touch(n)
    page.wait_for_timeout(LASTS_MS)
    events = [event for event in json.loads(browser.stop_tracing())["traceEvents"] if event["ph"] == "X"]
    frames = [(event["pid"], event["tid"]) for event in events if event["name"] == "FireAnimationFrame"]
    ours = [e for e in events if e["name"].endswith("::RunTask") and (e["pid"], e["tid"]) in frames]
    return len(frames), [event.get("tdur", 0) / 1e3 for event in ours]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--address", help="of an app that runs; else one is started")
    asked = parser.parse_args()
    with ExitStack() as stack:
        address = asked.address or stack.enter_context(running(APP)).address
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=chromium())
        page = stack.enter_context(closing(browser.new_page(viewport={"width": 1280, "height": 800})))
        for where, choices, touch in moves(page):
            page.goto(f"{address}/{where}?{urlencode({'text': TEXT} | choices)}")
            watched(page, touch, 0)  # the first touch also compiles
            rounds = [watched(page, touch, n) for n in range(1, asked.rounds + 1)]
            longest = [max(tasks) for _, tasks in rounds]
            over = sum(task > MOST_MS for _, tasks in rounds for task in tasks)
            print(
                f"{where:15} {sum(count for count, _ in rounds):4} frames; longest task of a touch: "
                f"{', '.join(f'{task:.0f}' for task in sorted(longest))} ms; over {MOST_MS}: {over}",
                flush=True,
            )


if __name__ == "__main__":
    main()
