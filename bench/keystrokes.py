"""The delay of pictures while typing, and the server's load from a class that types.

    python -m bench.keystrokes [keys touch memory typists] [--rounds 40] [--typists 1 10] [--seconds 60] [--by engine]

    keys     from a key in the sentence box to the explorer's new heads, painted: a letter at the end or in the middle
             of a sentence; in turns with Enter on a new one
    touch    from a cell of a mask, a part switched off, a slider of Writing to what comes of it, painted: by the
             reader's browser, in turns with the same by the server alone
    memory   what a tab holds after 240 keys and after 2,000 more: objects, arrays, and memory of the engine
    typists  so many readers type for a minute, in bursts of five keys a second with pauses of one to three: what their
             keys wait, how many find the server busy, what the server computes, and what somebody waits who presses
             Enter meanwhile. A reader asks one question at a time, and then for the newest text. Linux only.
             `--by engine`: fifty browsers and a server do not fit on one machine, so this has two halves. Four tabs
             in which the browser computes type, and all that they send is counted: it should be nothing. So for the
             server such typists are open pages that say nothing, and next to so many of these a reader presses Enter

Times are in milliseconds. Clients share the processors with the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from playwright.sync_api import Browser, Page, sync_playwright
from websockets.asyncio.client import connect

from bench.roundtrip import APP, SETTLED, SHOWN, WARM_UP, after_key, box, settled
from bench.sentences import WORDS, new_sentence
from tests.browser import HAS_ENGINE, Server, chromium
from tests.classroom.crowd import running, together
from tests.classroom.session import opened

LENGTHS = (12, 24)

BURST, A_SECOND = 15, 5
"""Keys of a burst, and how many of them come in a second."""

HERTZ = os.sysconf("SC_CLK_TCK")

PAGE = {"model": "tiny-english", "layer": "decoder.4.self_attn", "head": 3, "zoom": "", "token": None}

SWITCH = "(value) => value ? localStorage.removeItem('tfmviz-typing') : localStorage.setItem('tfmviz-typing', 'off')"

PARTS = ["keys", "touch", "memory", "typists"]

BESIDE = "globalThis.tfmvizViews.side_b.view.picture.values"

BARS = "globalThis.tfmvizViews.next_words.view.rows"

RIVALS = "globalThis.tfmvizViews.writing.view.data.stages.join()"

TYPES = """async ([count, words]) => {
    const box = document.querySelector(".st-key-text textarea");
    const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
    let text = "";
    for (let n = 0; n < count; n++) {
        text = n % 80 ? text + words.join(" ")[(n * 7) % 60] : "";
        set.call(box, text || "a");
        box.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await new Promise((resolve) => requestAnimationFrame(resolve));
    }
}"""
"""Types as many letters, one a frame."""

KERNELS = """() => [...document.querySelectorAll(".st-key-live *")]
    .flatMap(({ shadowRoot }) => [...(shadowRoot?.live_?.following.sources[0].engines.values() ?? [])])
    .reduce((sum, engine) => sum + engine.transformer.memory.buffer.byteLength, 0)"""
"""Bytes of the engines' own memory, which the browser does not count with the others."""

TABS = 4

CARET = "(box, at) => box.setSelectionRange(at, at)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all if none is named")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--typists", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--by", choices=["server", "engine"], default="server", help="who computes for typists")
    args = parser.parse_args()
    parts = args.parts or PARTS
    with running(APP) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        if "keys" in parts:
            keys(browser, server, args.rounds)
        if "touch" in parts:
            touch(browser, server, args.rounds)
        if "memory" in parts:
            memory(browser, server)
        if "typists" in parts and args.by == "engine":
            tabs(browser, server, args.seconds)
        browser.close()
        if "typists" in parts:
            for count in (0, *args.typists):
                together(typists(server, count, args.seconds, are_quiet=args.by == "engine"))


def keys(browser: Browser, server: Server, rounds: int) -> None:
    """Prints what a key takes, and Enter on a sentence as long."""
    page = settled(browser, f"{server.address}/explorer")
    for length in LENGTHS:
        text = sentence(length)
        asked: dict[str, Callable[[], float]] = {
            "a key at the end": partial(key, page, text, len(text)),
            "a key in the middle": partial(key, page, text, len(text) // 2),
            "Enter": partial(enter, page, length),
        }
        times: dict[str, list[float]] = {name: [] for name in asked}
        for number in range(WARM_UP + rounds):
            for name, ask in asked.items():
                elapsed = ask()
                if number >= WARM_UP:
                    times[name].append(elapsed)
        for name, found in times.items():
            print(f"{length} tokens, {name:24}{spread(found)}", flush=True)
    page.close()


def touch(browser: Browser, server: Server, rounds: int) -> None:
    """Prints what a touch takes that changes a pass or what comes of it."""
    for length in LENGTHS:
        for name, (address, ready, shown, do) in TOUCHES.items():
            page = settled(browser, f"{server.address}/{address}&text={sentence(length).replace(' ', '+')}")
            page.wait_for_selector(ready)
            times: dict[str, list[float]] = {"browser": [], "server": []}
            for number in range(WARM_UP + rounds):
                for by, found in times.items():
                    page.evaluate(SWITCH, by == "browser")
                    elapsed = after_key(page, shown, do(page, number))
                    page.wait_for_function(SETTLED)
                    if number >= WARM_UP:
                        found.append(elapsed)
            said = "; ".join(f"{by} {spread(found)}" for by, found in times.items())
            print(f"{length} tokens, {name:26}{said}", flush=True)
            page.close()


def on_a_cell(page: Page, number: int) -> str:
    """The keyboard stands on a cell of the mask, each time another one; Space changes it."""
    page.locator(".board canvas").focus()
    for key in ("ArrowDown", "ArrowRight")[: 1 + number % 2]:
        page.keyboard.press(key)
    return " "


def on_a_part(page: Page, number: int) -> str:
    """The keyboard stands on the switch of an MLP, each time another one; Space turns it."""
    page.get_by_role("switch", name=f"MLP {number % 5}").focus()
    return " "


def on_a_slider(page: Page, number: int) -> str:
    page.get_by_role("slider", name="Temperature").focus()
    return "ArrowRight" if number % 8 < 4 else "ArrowLeft"


TOUCHES: dict[str, tuple[str, str, str, Callable[[Page, int], str]]] = {
    "a mask's cell, A and B": ("masks?effect=Attention", ".lab canvas", BESIDE, on_a_cell),
    "a mask's cell, next word": ("masks?effect=Next+word", ".lab canvas", BARS, on_a_cell),
    "a part, A and B": ("switch_off?removed=Attention", ".cells canvas", BESIDE, on_a_part),
    "a part, next word": ("switch_off?removed=Next+word", ".bars li", BARS, on_a_part),
    "the temperature": ("writing?", ".rivals td", RIVALS, on_a_slider),
}
"""Address, what is there then, what changes, and what brings the hand to the key that changes it."""


def memory(browser: Browser, server: Server) -> None:
    """Prints what a tab holds while somebody types: sentences of words in another order each."""
    page = settled(browser, f"{server.address}/explorer")
    box(page).press("End")
    ask = page.context.new_cdp_session(page)
    held = []
    for count in (240, 2_000):  # both end in a text of 79 letters
        page.evaluate(TYPES, [count, WORDS])
        ask.send("HeapProfiler.collectGarbage")
        usage = ask.send("Runtime.getHeapUsage")
        held.append((usage["usedSize"], usage["backingStorageSize"], page.evaluate(KERNELS)))
    for name, before, after in zip(("objects", "arrays", "engine"), *held, strict=True):
        grown = f"{after / before - 1:+.1%}"
        print(f"{name}: {before / 1e6:.1f} MB after 240 keys, {after / 1e6:.1f} after 2,000 more: {grown}", flush=True)
    page.close()


def tabs(browser: Browser, server: Server, seconds: float) -> None:
    """Prints what tabs send in which somebody types, once each has its engine, and what the server computes."""
    pages = [settled(browser, f"{server.address}/explorer") for _ in range(TABS)]
    sent: list[object] = []
    for page in pages:
        box(page).press("End")
        page.evaluate(TYPES, [1, WORDS])
        page.wait_for_function(HAS_ENGINE)
        page.evaluate(TYPES, [20, WORDS])
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        for event in ("Network.requestWillBeSent", "Network.webSocketFrameSent"):
            network.on(event, lambda said: sent.append(said))
    spent, began, keys = processor_time(server.process.pid), time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for page in pages:
            page.evaluate(TYPES, [BURST, WORDS])
            keys += BURST
    share = (processor_time(server.process.pid) - spent) / (time.perf_counter() - began)
    print(f"{TABS} tabs with engines: {keys} keys, {len(sent)} messages, {share:.1%} of a processor of the server")
    box(pages[0]).press("Enter")
    pages[0].wait_for_function(SETTLED)
    assert sent, "nothing that a browser sends is counted"
    for page in pages:
        page.close()


def sentence(length: int) -> str:
    """Words of one token each, in an order that no cache has seen."""
    words = new_sentence().split()[:-1]
    return " ".join((words * 3)[:length])


def key(page: Page, text: str, at: int) -> float:
    """Types a letter into a sentence whose picture is there, and takes it away again."""
    page.bring_to_front()
    page.evaluate(SWITCH, True)
    before = page.evaluate(SHOWN)
    box(page).fill(text)
    page.wait_for_function(f"(before) => {SHOWN} !== before", arg=before)
    box(page).evaluate(CARET, at)
    return after_key(page, SHOWN, random.choice("bdgkpvz"))


def enter(page: Page, length: int) -> float:
    """Presses Enter on a new sentence whose picture is not there yet."""
    page.bring_to_front()
    page.evaluate(SWITCH, False)
    box(page).fill(sentence(length))
    return after_key(page, SHOWN, "Enter")


@dataclass
class Typist:
    """Somebody who types; the browser's half of `ui/live.py`."""

    address: str
    waits: list[float] = field(default_factory=list)
    busy: int = 0
    text: str = ""

    async def type(self, end: float, draw: random.Random) -> None:
        asking = asyncio.create_task(self.ask(end))
        await asyncio.sleep(draw.uniform(0, 3))  # nobody types in time with others
        while time.perf_counter() < end:
            self.text = ""
            words = " ".join(draw.sample(WORDS, len(WORDS)))
            for n in range(0, len(words), BURST):
                for letter in words[n : n + BURST]:
                    self.text += letter
                    await asyncio.sleep(draw.uniform(0.5, 1.5) / A_SECOND)
                await asyncio.sleep(draw.uniform(1, 3))
        await asking

    async def ask(self, end: float) -> None:
        shown, n = "", 0
        async with connect(f"{self.address.replace('http', 'ws', 1)}/live", compression=None) as socket:
            while (began := time.perf_counter()) < end:
                if (text := self.text) in (shown, "", " "):
                    await asyncio.sleep(0.005)
                    continue
                n, shown = n + 1, text
                await socket.send(json.dumps({"n": n, "text": text, "page": PAGE, "views": "explorer"}))
                answer = await socket.recv()
                if isinstance(answer, bytes):
                    self.waits.append(1000 * (time.perf_counter() - began))
                else:
                    self.busy += 1
                    await asyncio.sleep(1)


async def typists(server: Server, count: int, seconds: float, *, are_quiet: bool) -> None:
    """Prints what so many typists wait for, and somebody who presses Enter every two seconds.

    Args:
        are_quiet: their browsers compute: they have the page open, and ask nothing.
    """
    session, _ = await opened(server.address)
    quiet = [(await opened(server.address))[0] for _ in range(count if are_quiet else 0)]
    for _ in range(WARM_UP):
        await session.enter(new_sentence())
    crowd = [Typist(server.address) for _ in range(0 if are_quiet else count)]
    began, spent = time.perf_counter(), processor_time(server.process.pid)
    end = began + seconds
    typing = [asyncio.create_task(one.type(end, random.Random(n))) for n, one in enumerate(crowd)]
    entered = []
    while time.perf_counter() < end:
        entered.append(1000 * (await session.enter(new_sentence())).seconds)
        await asyncio.sleep(2)
    await asyncio.gather(*typing)
    share = (processor_time(server.process.pid) - spent) / (time.perf_counter() - began)
    waits, busy = [wait for one in crowd for wait in one.waits], sum(one.busy for one in crowd)
    found = f"keys {len(waits)}, {spread(waits)}, busy {busy}; " if waits else ""
    print(f"{count} typists: {found}Enter {spread(entered)}; {share:.0%} of a processor", flush=True)
    for one in (session, *quiet):
        await one.close()


def spread(times: Sequence[float]) -> str:
    return f"p50 {statistics.median(times):.0f}, p95 {statistics.quantiles(times, n=20)[-1]:.0f}"


def processor_time(process: int) -> float:
    """Seconds of a processor that a process has taken."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / HERTZ


if __name__ == "__main__":
    main()
