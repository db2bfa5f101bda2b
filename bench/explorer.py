"""The explorer against BertViz's head view on the same random causal attention: bytes, time to build, time to paint.

    python -m bench.explorer
    python -m bench.explorer --without-bertviz

The trace has 12 layers × 12 heads. Every round measures each contestant once, in turn. The medians over the rounds
count, and their ratios more than the milliseconds.

Chromium measures on a fresh page that holds the data and has loaded its scripts but not run them. A picture counts as
painted two frames after it was drawn. A frame's work is all that the page's main thread did since the frame before,
taken from Chromium's trace. On a busy machine a task also waits for others, so the table gives the time on the clock
and the processor's time, and its last column says which of the two keeps the target.

This project does not require BertViz. Its page asks for require.js, d3 5.7.0 and jQuery 2.0.0. It gets them from a
folder filled by npm, whose oldest jQuery is 2.1.0.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.browser import chromium
from tests.traces import decoder, words
from tfmviz import views
from tfmviz.memory import keep_memory
from tfmviz.record.trace import Array, Trace
from tfmviz.views import explorer
from tfmviz.views.shared import script

SIZE = {"layers": 12, "heads": 12}
WIDTH, HEIGHT = 1440, 1000
COMPARED = (16, 64, 128)
TOUCHED = (24, 64, 128)
LONG = (256, 512)
LIBRARIES = {
    "require": ("requirejs@2.3.6", "require.js"),
    "d3": ("d3@5.7.0", "dist/d3.min.js"),
    "jquery": ("jquery@2.1.0", "dist/jquery.min.js"),
}
MISSING = "BertViz or npm is missing: run `pip install bertviz ipython` and install npm, or use --without-bertviz."

HeadView = Callable[..., Any]

SHELL = f"""<!doctype html><meta charset="utf-8">
<style>{explorer.STANDALONE_CSS}</style>
<main><div id="explorer"></div></main>
<script type="module">{script("explorer/view.ts")}
Object.assign(globalThis, {{ Explorer, toBytes: (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) }});
</script>"""

# painted(begin, done): resolves with the milliseconds since `begin` two frames after `done()` holds.
PAINTED = """
globalThis.painted = (begin, done = () => true) => new Promise((resolve) => {
  const check = () => done()
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begin)))
    : setTimeout(check, 2);
  check();
});
"""
SHOW = """(heads) => {
  const begin = performance.now();
  const explorer = new Explorer(document.getElementById("explorer"));
  explorer.state.heads = Array.from({ length: heads }, (_, head) => ({ layer: explorer.state.layer, head }));
  explorer.show(bytes);
  return painted(begin);
}"""
OURS_DONE = "() => document.querySelector('.tiles button')"
THEIRS_DONE = "() => document.querySelector('#vis #attention line[stroke-opacity]')"
LOAD_LIBRARIES = """(config) => new Promise((resolve) => {
  (0, eval)(config);
  requirejs(["jquery", "d3"], () => resolve(null));
})"""
SHOW_THEIRS = f"""() => {{
  const begin = performance.now();
  document.body.append(Object.assign(document.createElement("script"), {{ textContent: source }}));
  return painted(begin, {THEIRS_DONE});
}}"""
SWITCH = f"""async () => {{
  const times = [];
  for (let n = 1; n < {SIZE["layers"]}; n++) {{
    const begin = performance.now();
    document.querySelector("[aria-label='Next layer']").click();
    times.push(await painted(begin));
  }}
  return times;
}}"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table. The target is the largest value allowed for ours, or how many times smaller it must be."""

    name: str
    unit: str = "ms"
    most: float | None = None
    times: float | None = None
    digits: int = 1


Samples = dict[tuple[Figure, str], list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds after one that warms up Python and Chromium")
    parser.add_argument("--without-bertviz", action="store_true", help="measure the explorer alone")
    args = parser.parse_args()
    keep_memory()  # as the app does
    head_view = None if args.without_bertviz else bertviz()
    print(f"{args.rounds} rounds, {os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}", end=", ", flush=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        contest = Contest(browser, folder, head_view, fetch(folder) if head_view else {})
        for round_number in range(1 + args.rounds):
            contest.build()
            contest.paint()
            contest.touch()
            if round_number == 0:
                contest.samples.clear()
        browser.close()
    print(f"load after {os.getloadavg()[0]:.1f}")
    print(table(contest.samples))


def bertviz() -> HeadView:
    """BertViz's head view.

    Raises:
        SystemExit: it is not installed.
    """
    try:
        return importlib.import_module("bertviz.head_view").head_view
    except ImportError as error:
        raise SystemExit(MISSING) from error


def fetch(folder: Path) -> dict[str, bytes]:
    """The scripts that BertViz's page asks for, by the first part of their file names.

    Raises:
        SystemExit: npm is missing or fails.
    """
    found = {}
    for name, (package, path) in LIBRARIES.items():
        try:
            packed = subprocess.check_output(["npm", "pack", "--silent", package], cwd=folder, text=True).strip()
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(MISSING) from error
        with tarfile.open(folder / packed) as archive:
            member = archive.extractfile(f"package/{path}")
            assert member is not None
            found[name] = member.read()
    return found


@dataclass(slots=True)
class Contest:
    """All measurements, in rounds. `head_view` and its `libraries` are BertViz's; without them ours runs alone."""

    browser: Browser
    folder: Path
    head_view: HeadView | None
    libraries: dict[str, bytes]
    samples: Samples = field(default_factory=lambda: defaultdict(list))
    traces: dict[int, Trace] = field(
        default_factory=lambda: {n: decoder(words(n), **SIZE) for n in sorted({*COMPARED, *TOUCHED, *LONG})}
    )
    blobs: dict[int, bytes] = field(default_factory=dict)
    theirs: dict[int, str] = field(default_factory=dict)

    def note(self, figure: Figure, ours: float, computed: float | None = None, theirs: float | None = None) -> None:
        for who, value in (("ours", ours), ("computed", computed), ("theirs", theirs)):
            if value is not None:
                self.samples[figure, who].append(value)

    def build(self) -> None:
        """Python's part: time and bytes."""
        for length, trace in self.traces.items():
            begin = time.perf_counter()
            blob = views.payload(trace)
            elapsed = 1e3 * (time.perf_counter() - begin)
            self.blobs[length] = views.payload(trace, whole=True)
            cells = sum(int(trace[f"{layer}.mask"].sum()) for layer in trace.layers)
            figure = Figure(f"bytes a weight, T = {length}", "", most=1.4 if length == 64 else None, digits=2)
            self.note(figure, len(self.blobs[length]) / (cells * SIZE["heads"]))
            if length not in COMPARED:
                continue
            theirs, size = self.build_theirs(length)
            times = 20 if length == 64 else None
            for name, ours in (("payload", blob), ("page without a server", views.html(trace).encode())):
                self.note(Figure(f"{name}, T = {length}", "MB", times=times, digits=3), len(ours) / 1e6, theirs=size)
            figure = Figure(f"Python's time to build it, T = {length}", times=50 if length > 16 else None)
            self.note(figure, elapsed, theirs=theirs)

    def build_theirs(self, length: int) -> tuple[float, float] | tuple[None, None]:
        """Builds BertViz's page and gives its milliseconds and megabytes."""
        if self.head_view is None:
            return None, None
        trace = self.traces[length]
        attention = [torch.from_numpy(trace[f"{layer}.pattern"])[None] for layer in trace.layers]
        begin = time.perf_counter()
        self.theirs[length] = self.head_view(attention, list(trace.target.tokens), html_action="return").data
        return 1e3 * (time.perf_counter() - begin), len(self.theirs[length].encode()) / 1e6

    def paint(self) -> None:
        """The time from data in the browser to a painted picture, and the memory the page then holds."""
        ours = {heads: self.show(64, heads=heads)[0] for heads in (1, 12)}
        theirs = self.show_theirs(64) if self.head_view else None
        for heads, elapsed in ours.items():
            self.note(Figure(f"data to painted, T = 64, {heads} of 12 heads", times=5), elapsed, theirs=theirs)
        opened = self.open(views.html(self.traces[64]), OURS_DONE)
        theirs = self.open(self.theirs[64], THEIRS_DONE) if self.head_view else None
        self.note(Figure("saved page opened to painted, T = 64", times=5), opened, theirs=theirs)
        for length in LONG:
            elapsed, held = self.show(length)
            figure = Figure(f"data to painted, T = {length}, all weights", most=1200 if length == 256 else None)
            self.note(figure, elapsed)
            self.note(Figure(f"held by the page, T = {length}, all weights", "MB", most=200), held)

    def page(self) -> Page:
        """An empty page that knows `painted` and gets BertViz's libraries from whatever address it asks."""
        page = self.browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})

        def answer(route: Route) -> None:
            name = route.request.url.rpartition("/")[2].partition(".")[0]
            route.fulfill(body=self.libraries[name], content_type="text/javascript")

        page.route(re.compile(r"\.min\.js$"), answer)
        page.add_init_script(PAINTED)
        page.goto("about:blank")
        return page

    def ready(self, length: int) -> Page:
        """A page with a payload's bytes and the explorer's scripts, which have not run yet."""
        page = self.page()
        page.set_content(SHELL)
        page.evaluate("(text) => { globalThis.bytes = toBytes(text); }", base64.b64encode(self.blobs[length]).decode())
        return page

    def show(self, length: int, *, heads: int = 1) -> tuple[float, float]:
        """Milliseconds until ours is painted, and megabytes of heap and buffers after garbage collection."""
        page = self.ready(length)
        elapsed = float(page.evaluate(SHOW, heads))
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")
        page.close()
        return elapsed, sum(used[name] for name in ("usedSize", "embedderHeapUsedSize", "backingStorageSize")) / 1e6

    def show_theirs(self, length: int) -> float:
        """Milliseconds until BertViz is painted. Its libraries have run; its own script is there as a string."""
        markup, _, source = self.theirs[length].rpartition('<script type="text/javascript">')
        page = self.page()
        page.set_content(markup)
        page.evaluate(LOAD_LIBRARIES, source[source.index("require.config") : source.index("requirejs(")])
        page.evaluate("(text) => { globalThis.source = text; }", source.replace("</script>", ""))
        elapsed = float(page.evaluate(SHOW_THEIRS))
        page.close()
        return elapsed

    def open(self, html: str, done: str) -> float:
        """Milliseconds from the start of the navigation to a saved page until it is painted."""
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf-8")
        page = self.page()
        page.goto(path.as_uri(), wait_until="commit")
        elapsed = float(page.evaluate(f"() => painted(0, {done})"))
        page.close()
        return elapsed

    def touch(self) -> None:
        """The work of a frame while the pointer moves over each picture, and the time to switch layers."""
        for length, heads in itertools.product(TOUCHED, (1, 12)):
            page = self.ready(length)
            page.evaluate(SHOW, heads)
            where = f"T = {length}, {heads} of 12 heads"
            for name, path in paths(page).items():
                with self.traced(page) as tasks:
                    for x, y in path:
                        page.mouse.move(x, y)
                figure = Figure(f"hover {name}, {where}: a frame's work, p95", most=16)
                self.note(figure, *np.quantile(per_frame(tasks), 0.95, axis=0).tolist())
                figure = Figure(f"hover {name}, {where}: longest task", most=50)
                self.note(figure, *np.array(tasks)[:, :2].max(axis=0).tolist())
            page.mouse.move(1, 1)
            with self.traced(page) as tasks:
                times = page.evaluate(SWITCH)
            computed = float(np.array(tasks)[:, 1].sum() / len(times))
            self.note(Figure(f"layer switch, {where}", most=50), statistics.median(times), computed)
            page.close()

    @contextmanager
    def traced(self, page: Page) -> Iterator[list[tuple[float, float, bool]]]:
        """Lists the tasks of the page's main thread: ms on the clock, ms of processor time, whether it made a frame."""
        tasks: list[tuple[float, float, bool]] = []
        self.browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
        yield tasks
        page.evaluate("() => painted(0)")
        events = [event for event in json.loads(self.browser.stop_tracing())["traceEvents"] if event["ph"] == "X"]
        frames = [event for event in events if event["name"] == "FireAnimationFrame"]
        threads = {(event["pid"], event["tid"]) for event in frames}
        for event in sorted(events, key=lambda event: event["ts"]):
            if event["name"].endswith("::RunTask") and (event["pid"], event["tid"]) in threads:
                framed = any(event["ts"] <= frame["ts"] < event["ts"] + event["dur"] for frame in frames)
                tasks.append((event["dur"] / 1e3, event.get("tdur", 0) / 1e3, framed))


def per_frame(tasks: list[tuple[float, float, bool]]) -> Array:
    """Work of all tasks up to each frame since the one before: (frame, 2), ms on the clock and of processor time."""
    ends = [n + 1 for n, (_, _, framed) in enumerate(tasks) if framed]
    return np.add.reduceat(np.array(tasks)[: ends[-1], :2], [0, *ends[:-1]])


def paths(page: Page) -> dict[str, list[tuple[float, float]]]:
    """The pointer's paths: down both columns of tokens, along the matrix's last rows and up, across all tiles."""
    page.locator(".panels").evaluate("(node) => node.scrollIntoView()")

    def box(name: str) -> tuple[float, float, float, float]:
        found = page.locator(name).bounding_box()
        assert found
        return found["x"], found["y"], found["width"], min(found["height"], HEIGHT - found["y"])

    _, top, _, height = box(".lines-picture")
    down = np.linspace(top + 4, top + height - 4, 40)
    middles = [x + width / 2 for x, _, width, _ in (box(".column.query"), box(".column.key"))]
    x, y, width, height = box(".matrix-picture")
    last_rows = [(x + width * share, y + height - 12) for share in np.linspace(0.25, 0.85, 40)]
    up = [(x + width * 0.3, y + height * share) for share in np.linspace(0.95, 0.4, 40)]
    x, y, side, _ = box(".tiles button >> nth=0")
    tiles = [(x + (column + 0.5) * side, y + (row + 0.5) * side) for row in range(0, 12, 2) for column in range(12)]
    return {"tokens": [(x, y) for x in middles for y in down], "matrix": last_rows + up, "overview": tiles}


def table(samples: Samples) -> str:
    """Every measurement with its target."""
    lines = [f"{'figure':66} {'ours':>9} {'computing':>9} {'BertViz':>9} {'ratio':>8}  target"]
    for figure in dict.fromkeys(figure for figure, _ in samples):
        found = [samples.get((figure, who), [math.nan]) for who in ("ours", "computed", "theirs")]
        ours, computed, theirs = (statistics.median(values) for values in found)
        verdict = ""
        if figure.most is not None:
            kept = "met" if ours <= figure.most else "met computing" if computed <= figure.most else "MISSED"
            verdict = f"≤ {figure.most:g} {figure.unit} {kept}"
        elif figure.times is not None and not math.isnan(theirs):
            verdict = f"≥ {figure.times:g} × {'met' if theirs >= figure.times * ours else 'MISSED'}"
        shown = [f"{value:9.{figure.digits}f}" for value in (ours, computed, theirs)] + [f"{theirs / ours:6.1f} ×"]
        cells = " ".join(" " * len(text) if "nan" in text else text for text in shown)
        lines.append(f"{figure.name + (f' ({figure.unit})' if figure.unit else ''):66} {cells}  {verdict}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    main()
