"""A reader's waiting times in the browser: after Enter, on every tab of every page, on a first visit, on a cold server.

    python -m bench.roundtrip [tabs painted visit cold touch beside] [--page masks] [--rounds 7]

Everything is compared with an empty Streamlit page: a text box and a line of text in a process without torch, with
Streamlit's default settings. One Chromium asks both in turn, so a slow moment of the machine hits both. The ratio of
the medians counts.

    tabs     from Enter, with a new sentence, to the last change on the page: an element, a text, a canvas (`watch.js`)
    painted  from Enter to the explorer's new heads, painted: two frames after they are drawn; the empty page's new text
    visit    from the first visit of a browser to the sentence box, and to the explorer's heads, painted
    cold     the same on a server that has just started and has no visitor yet
    touch    from a key in a picture to Python's answer, in words or in the address: a head, a token, a row of a mask
    beside   A and B: from Enter in either's sentence to the last change, as a ratio to the same page without B; and the
             time that a pointer in A takes of a frame until both sides are painted, with 64 tokens each
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from bench import beside as two_sides
from bench.sentences import new_sentence
from tests.browser import READY, ROOT, chromium
from tests.classroom.crowd import running

APP = ROOT / "app.py"
EMPTY_PAGE = "import streamlit as st\nst.text(st.text_input('Your sentence'))\n"
SENTENCE = "the river in the garden of the old house was cold in winter and the children did not swim there until may ."
PAGES = ("explorer", *sorted({path.stem for path in (ROOT / "pages").glob("*.py")} - {"explorer", "home"}))
"""The app's pages by the names of their files."""

WATCH = (Path(__file__).parent / "watch.js").read_text(encoding="utf-8")

QUIET = 500
"""Milliseconds without a change after which a page counts as settled."""

SETTLED = f"() => document.querySelector('{READY}') && performance.now() - lastChange > {QUIET}"

SHOWN = "globalThis.tfmvizViews?.explorer?.view?.attention?.id"
"""The sentence that the explorer shows. It draws all heads as soon as it takes the data."""

BOX = "document.querySelector('[data-testid=stTextArea] textarea, [data-testid=stTextInput] input')"

TEXT = "document.querySelector('[data-testid=stApp]').textContent"
"""All text that Python has written. That of the views does not count: it lies in their shadow roots."""

ADDRESS = "location.search"
"""The parameters that Python writes into the address, with its answer."""

PAINTED = """
(changed) => new Promise((resolve) => {
  const check = () => changed()
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
    : setTimeout(check, 2);
  check();
})
"""
"""Resolves two frames after `changed()` holds, with that moment."""

OWN = "Your sentence"
"""The label of the sentence box."""

WARM_UP = 2

Ask = Callable[[], float]
"""Does something and returns the milliseconds until the page shows the result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """A browser, the addresses of both servers, and the choices of the command line."""

    browser: Browser
    app: str
    empty: str
    pages: Sequence[str]
    rounds: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="which ones, in this order; all if none is named")
    parser.add_argument("--page", choices=PAGES, action="append", help="`tabs` of this page only; may be repeated")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as on a reader's machine: our modules are compiled once
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, ExitStack() as stack:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY_PAGE)
        app, empty = (stack.enter_context(running(path)).address for path in (APP, script))
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        bench = Bench(browser=browser, app=app, empty=empty, pages=args.page or PAGES, rounds=args.rounds)
        print(f"{'median ms (least to most)':58}{'app':>20}{'empty page':>20}{'ratio':>8}")
        for part in args.parts or PARTS:
            PARTS[part](bench)
        browser.close()


def compare(bench: Bench, name: str, ours: Ask, theirs: Ask, *, warm_up: int = WARM_UP) -> None:
    """Asks both in turn and prints one line."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(warm_up + bench.rounds):
        for ask, kept in zip((ours, theirs), times, strict=True):
            elapsed = ask()
            if number >= warm_up:
                kept.append(elapsed)
    ratio = statistics.median(times[0]) / statistics.median(times[1])
    print(f"{name:58}{spread(times[0]):>20}{spread(times[1]):>20}{ratio:8.2f}", flush=True)


def spread(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.0f} ({min(times):.0f} to {max(times):.0f})"


def tabs(bench: Bench) -> None:
    empty = settled(bench.browser, bench.empty)
    for name in bench.pages:
        page = settled(bench.browser, f"{bench.app}/{name}")
        if box(page).count():
            for labels in leaves(page):
                compare(
                    bench,
                    " › ".join((name, *labels)),
                    partial(last_change, page, name),
                    partial(last_change, empty, ""),
                )
        page.close()
    empty.close()


def leaves(page: Page, depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Opens every tab of a page in turn, nested ones too, and yields the labels that lead there."""
    bars = page.locator("[data-testid=stTabs] [role=tablist]:visible")
    if bars.count() <= depth:
        yield ()
        return
    for label in bars.nth(depth).get_by_role("tab").all_inner_texts():
        page.bring_to_front()
        tab = bars.nth(depth).get_by_role("tab", name=label, exact=True)
        tab.evaluate("(node) => node.scrollIntoView({ block: 'center' })")  # at an edge the header takes the click
        tab.click()
        page.wait_for_function(SETTLED)
        for rest in leaves(page, depth + 1):
            yield label, *rest


def last_change(page: Page, name: str, label: str = OWN) -> float:
    """Enters a new sentence on the page of this name and returns the milliseconds until the last change."""
    page.bring_to_front()
    box(page, label).fill(new_sentence(name))
    page.wait_for_function(SETTLED)
    page.evaluate("addEventListener('keydown', () => { globalThis.began = performance.now() }, { once: true })")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => lastChange > began && ({SETTLED})()")
    return float(page.evaluate("lastChange - began"))


def painted(bench: Bench) -> None:
    app, empty = (settled(bench.browser, address) for address in (f"{bench.app}/explorer", bench.empty))

    def ask(page: Page, shown: str) -> float:
        page.bring_to_front()
        box(page).fill(new_sentence())
        return after_key(page, shown, "Enter")

    said = "document.querySelector('[data-testid=stText]')?.textContent"
    compare(bench, "explorer, Enter to painted", partial(ask, app, SHOWN), partial(ask, empty, said))
    app.close()
    empty.close()


def visit(bench: Bench) -> None:
    for name, done in {"sentence box": BOX, "all heads": SHOWN}.items():
        compare(
            bench,
            f"first visit to a warm server, to {name}",
            partial(first_visit, bench.browser, f"{bench.app}/explorer", done),
            partial(first_visit, bench.browser, bench.empty, BOX),
        )


def cold(bench: Bench) -> None:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY_PAGE)

        def ask(path: Path, page: str, done: str) -> float:
            with running(path) as server:
                return first_visit(bench.browser, server.address + page, done)

        ours, theirs = partial(ask, APP, "/explorer", SHOWN), partial(ask, script, "", BOX)
        compare(bench, "first visit to a cold server, to all heads", ours, theirs, warm_up=0)


def first_visit(browser: Browser, address: str, done: str) -> float:
    """Milliseconds from the start of the navigation until `done` holds and is painted, in a browser without a cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    elapsed = float(page.evaluate(f"({PAINTED})(() => {done})"))
    context.close()
    return elapsed


def touch(bench: Bench) -> None:
    explorer, masks = (f"{bench.app}/{page}?text={SENTENCE.replace(' ', '+')}" for page in ("explorer", "masks"))
    empty = settled(bench.browser, bench.empty)
    keys = {
        "another head, 24 tokens": (explorer, ".tiles [tabindex='0']", ("ArrowRight", "Enter"), TEXT),
        "a pinned token, 24 tokens": (explorer, ".strip [tabindex='0']", ("ArrowLeft", "Enter"), ADDRESS),
        "a row of the mask, 24 tokens": (masks, ".st-key-masks canvas[tabindex='0']", ("r",), ADDRESS),
    }
    for name, (address, where, pressed, shown) in keys.items():
        page = settled(bench.browser, address)
        target = page.locator(where).first
        compare(bench, name, partial(press, page, target, pressed, shown), partial(last_change, empty, ""))
        page.close()
    empty.close()


def press(page: Page, target: Locator, keys: Sequence[str], shown: str) -> float:
    """Presses keys in a part of a page and measures the last; see `after_key`."""
    page.bring_to_front()
    target.focus()
    for key in keys[:-1]:
        page.keyboard.press(key)
    return after_key(page, shown, keys[-1])


def beside(bench: Bench) -> None:
    texts = two_sides.long_sentences()
    for name in two_sides.PAGES:
        if name in bench.pages:
            one, two = (
                settled(bench.browser, bench.app + two_sides.address(name, *shown)) for shown in (texts[:1], texts)
            )
            for side, label in (("A", OWN), ("B", two_sides.OTHER)):
                ask = partial(last_change, two, name, label)
                compare(bench, f"{name}, Enter in {side} (and without B)", ask, partial(last_change, one, name))
            two.goto(bench.app + two_sides.address(name, *texts))
            two.wait_for_function(SETTLED)
            if name in two_sides.VIEWS:
                print(f"{name + ', pointer in A':58}{two_sides.pointer(two, name)}", flush=True)
            one.close()
            two.close()


def box(page: Page, label: str = OWN) -> Locator:
    return page.get_by_role("textbox", name=label)


def settled(browser: Browser, address: str) -> Page:
    """A page in a new browser tab, once it has settled.

    Without motion: while an old picture fades above the new one, frames come at the display's pace, and two of them
    take 33 ms in place of 5.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_selector(READY)
    page.wait_for_function(SETTLED)
    return page


def after_key(page: Page, shown: str, key: str) -> float:
    """Presses a key and returns the milliseconds until the value of the expression `shown` has changed on screen."""
    page.evaluate(
        f"""() => {{
          globalThis.elapsed = null;
          const before = {shown};
          addEventListener("keydown", () => {{
            const began = performance.now();
            ({PAINTED})(() => {shown} !== before).then((end) => globalThis.elapsed = end - began);
          }}, {{ capture: true, once: true }});
        }}"""
    )
    page.keyboard.press(key)
    page.wait_for_function("() => globalThis.elapsed !== null", timeout=20_000)
    return float(page.evaluate("globalThis.elapsed"))


PARTS: dict[str, Callable[[Bench], None]] = {
    "tabs": tabs,
    "painted": painted,
    "visit": visit,
    "cold": cold,
    "touch": touch,
    "beside": beside,
}

if __name__ == "__main__":
    main()
