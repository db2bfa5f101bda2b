"""A and B on one page, for `bench.roundtrip beside`: two long sentences, and a pointer in A until B shows it."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page

from bench.sentences import WORDS
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo import MODELS

LENGTH = 64
"""Tokens of either side."""

MOVES = 300

OTHER = "The other sentence"
"""The label of B's box."""

PAGES = ("explorer", "whole_model", "step_by_step", "residual_stream", "feed_forward")

VIEWS = {
    "explorer": ("side_a", "side_b", "canvas", "view.mark.style.cssText + view.tip.textContent"),
    "whole_model": ("whole_model", "whole_model_b", ".stage > canvas", "view.hovered?.row + view.tip.textContent"),
    "step_by_step": ("steps", "steps_b", ".main canvas", "JSON.stringify(view.hovered?.part)"),
}
"""By page: the views of A and of B, where the pointer moves, and what a view shows."""

POINT = """
async ([keyOfA, keyOfB, where, shown, moves]) => {
  const [a, b] = [keyOfA, keyOfB].map((key) => globalThis.tfmvizViews[key].view);
  const show = new Function("view", `return ${shown}`);
  const node = a.node.querySelector(where);
  node.scrollIntoView({ block: "center" });
  const { left, top, width, height } = node.getBoundingClientRect();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const painted = () => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
  const result = { same: 0, moved: 0 };
  for (let n = 0; n < moves; n++) {
    await frame();
    await new Promise((resolve) => setTimeout(resolve));
    const before = [show(a), show(b)];
    const place = { clientX: left + width * ((n * 0.618034) % 1), clientY: top + height * ((n * 0.7548777) % 1) };
    const how = { pointerType: "mouse", bubbles: true, composed: true };
    performance.mark("begin");
    node.dispatchEvent(new PointerEvent("pointermove", { ...place, ...how }));
    await frame(); // after what the views do in it
    const [moved, same] = [a, b].map((view, side) => show(view) !== before[side]);
    await painted();
    if (moved) performance.mark("end");
    result.moved += moved;
    result.same += moved && same;
  }
  return result;
}
"""


def address(page: str, text: str, other: str | None = None) -> str:
    asked = {"text": text} | ({} if other is None else {"with": "another sentence", "b": other})
    return f"/{page}?{urlencode(asked)}" + ("&stage=share" if page == "step_by_step" else "")


def long_sentences() -> tuple[str, str]:
    """Two texts of `LENGTH` tokens that differ in one word."""
    tokenizer = Tokenizer.load(MODELS / "tiny-english" / "tokenizer.json")
    text = " ".join(random.Random(0).choices(WORDS, k=LENGTH))
    kept = tokenizer.decode(tokenizer.encode(text, max_len=LENGTH).ids)
    first, _, rest = kept.partition(" ")
    return f"{first} {rest}", f"{first} the {rest}"


def pointer(page: Page, name: str) -> str:
    """The time of a move of the pointer in A until both sides are painted, and how often B shows it in that frame.

    In milliseconds of the page's own thread: neither what it waits for the frame nor what others take of the processor.
    """
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["blink.user_timing"])
    found = page.evaluate(POINT, [*VIEWS[name], MOVES])
    times = sorted(_times(json.loads(browser.stop_tracing())["traceEvents"]))
    middle, p95 = statistics.median(times), times[int(0.95 * len(times))]
    return f"{middle:.1f} ms, p95 {p95:.1f}; B in the same frame {found['same']} of {found['moved']}"


def _times(events: Sequence[dict[str, Any]]) -> Iterator[float]:
    """Milliseconds of the thread from each mark "begin" to the "end" that follows it."""
    marks = [event for event in events if event["name"] in ("begin", "end") and "tts" in event]
    for begin, end in pairwise(sorted(marks, key=lambda mark: mark["ts"])):
        if (begin["name"], end["name"]) == ("begin", "end"):
            yield (end["tts"] - begin["tts"]) / 1000
