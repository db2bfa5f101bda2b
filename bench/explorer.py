"""The explorer against BertViz's head view on the same random causal attention: bytes, time to build, time to paint.

    python -m bench.explorer
    python -m bench.explorer --without-bertviz

12 layers × 12 heads. Every round measures each contestant once, in turn; medians over the rounds count, and of those the
ratios before the milliseconds. Every measurement in Chromium is on a fresh page, its scripts loaded but never run, all
data there; what was painted counts as seen two frames later. The work of a frame is all that the page's main thread did
since the frame before, as Chromium's trace has it; on a busy machine a task also waits for others, so beside the time on
the clock stands the processor's, and a target counts as met if either keeps it.

BertViz is no requirement of this project. Its page asks for require.js, d3 5.7.0 and jQuery 2.0.0; it gets them from a
folder filled by npm, which has jQuery from 2.1.0 on only.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import math
import os
import statistics
import subprocess
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.browser import chromium
from tests.traces import decoder, words
from tfmviz import views
from tfmviz.trace import Array, Trace
from tfmviz.views import explorer

SIZE = {"layers": 12, "heads": 12}
WIDTH, HEIGHT = 1440, 1000
COMPARED = (16, 64, 128)
TOUCHED = (24, 64, 128)
LONG = (256, 512)
LIBRARIES = {"require": "requirejs@2.3.6", "d3": "d3@5.7.0", "jquery": "jquery@2.1.0"}
MISSING = "For the comparison run `pip install bertviz ipython` and have npm, or say --without-bertviz."

HeadView = Callable[..., Any]

SHELL = f"""<!doctype html><meta charset="utf-8">
<style>{(explorer.FOLDER / "standalone.css").read_text(encoding="utf-8")}{explorer.CSS}</style>
<main><div id="explorer"></div></main>
<script type="module">{explorer.script("streamlit")}
Object.assign(globalThis, {{ Explorer, toBytes: (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) }});
</script>"""

# Resolves with the milliseconds since `begin` two frames after `done()` holds.
PAINTED = """
const painted = (begin, done = () => true) => new Promise((resolve) => {
  const check = () => done()
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begin)))
    : setTimeout(check, 2);
  check();
});
"""
SHOW = f"""(heads) => {{
  {PAINTED}
  const begin = performance.now();
  globalThis.explorer = new Explorer(document.getElementById("explorer"));
  explorer.state.heads = Array.from({{ length: heads }}, (_, n) => n);
  explorer.show(bytes);
  return painted(begin);
}}"""
THEIRS_DONE = "() => document.querySelector('#vis #attention line[stroke-opacity]')"
SHOW_THEIRS = f"""() => {{
  {PAINTED}
  const begin = performance.now();
  document.body.append(Object.assign(document.createElement("script"), {{ textContent: source }}));
  return painted(begin, {THEIRS_DONE});
}}"""
SWITCH = f"""async () => {{
  {PAINTED}
  const times = [];
  for (let n = 1; n < {SIZE["layers"]}; n++) {{
    const begin = performance.now();
    document.querySelector("[aria-label='Next layer']").click();
    times.push(await painted(begin));
  }}
  return times;
}}"""

SETTLED = f"() => {{ {PAINTED} return painted(0); }}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table. The target is the most that ours may be, or the most that ours may be of theirs."""

    name: str
    unit: str
    most: float | None = None
    share: float | None = None
    digits: int = 1


Samples = dict[tuple[Figure, str], list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-bertviz", action="store_true", help="measure the explorer alone")
    args = parser.parse_args()
    head_view = None if args.without_bertviz else bertviz()
    samples: Samples = defaultdict(list)
    print(f"load before {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {args.rounds} rounds", flush=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        libraries = fetch(Path(name)) if head_view else {}
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        contest = Contest(browser, Path(name), libraries, head_view, samples)
        for round_number in range(1 + args.rounds):
            contest.build()
            contest.paint()
            contest.touch()
            if round_number == 0:
                samples.clear()  # the first round warms up Python, the disk and Chromium
        browser.close()
    print(f"load after {os.getloadavg()[0]:.1f}")
    print(table(samples))


def bertviz() -> HeadView:
    """BertViz's head view.

    Raises:
        SystemExit: it is not installed.
    """
    try:
        return importlib.import_module("bertviz.head_view").head_view
    except ImportError as error:
        raise SystemExit(MISSING) from error


def fetch(folder: Path) -> dict[str, str]:
    """The scripts that BertViz's page asks for, by the beginning of their file names.

    Raises:
        SystemExit: npm is missing or fails.
    """
    found = {}
    try:
        for name, package in LIBRARIES.items():
            run = ["npm", "pack", "--silent", package]
            packed = subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
            with tarfile.open(folder / packed) as archive:
                path = "package/require.js" if name == "require" else f"package/dist/{name}.min.js"
                member = archive.extractfile(path)
                assert member is not None
                found[name] = member.read().decode()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(MISSING) from error
    return found


class Contest:
    """What is measured, in rounds."""

    def __init__(
        self, browser: Browser, folder: Path, libraries: dict[str, str], head_view: HeadView | None, samples: Samples
    ) -> None:
        self.browser = browser
        self.folder = folder
        self.libraries = libraries
        self.head_view = head_view
        self.samples = samples
        self.traces = {length: decoder(words(length), **SIZE) for length in {*COMPARED, *TOUCHED, *LONG}}
        self.blobs: dict[int, bytes] = {}
        self.theirs: dict[int, str] = {}

    def note(self, figure: Figure, ours: float, computed: float | None = None, theirs: float | None = None) -> None:
        for who, value in (("ours", ours), ("computed", computed), ("theirs", theirs)):
            if value is not None:
                self.samples[figure, who].append(value)

    def build(self) -> None:
        """Python's part: time and bytes."""
        for length, trace in self.traces.items():
            begin = time.perf_counter()
            blob = views.payload(trace)
            ours = 1e3 * (time.perf_counter() - begin)
            self.blobs[length] = views.payload(trace, whole=True)
            page = len(views.html(trace).encode()) / 1e6
            n_weights = sum(int(trace[f"{layer}.mask"].sum()) for layer in trace.layers) * SIZE["heads"]
            most = 1.4 if length == 64 else None
            self.note(Figure(f"bytes a weight, T = {length}", "", most, digits=2), len(self.blobs[length]) / n_weights)
            if length not in COMPARED:
                continue
            theirs, size = self.build_theirs(length, trace)
            share = 1 / 20 if length == 64 else None
            self.note(Figure(f"payload, T = {length}", "MB", share=share, digits=3), len(blob) / 1e6, theirs=size)
            self.note(Figure(f"page without a server, T = {length}", "MB", share=share, digits=3), page, theirs=size)
            self.note(Figure(f"Python, T = {length}", "ms", share=1 / 50 if length > 16 else None), ours, theirs=theirs)

    def build_theirs(self, length: int, trace: Trace) -> tuple[float, float] | tuple[None, None]:
        if self.head_view is None:
            return None, None
        attention = [torch.from_numpy(trace[f"{layer}.pattern"])[None] for layer in trace.layers]
        begin = time.perf_counter()
        made = self.head_view(attention, list(trace.target.tokens), html_action="return")
        elapsed = 1e3 * (time.perf_counter() - begin)
        self.theirs[length] = made.data
        return elapsed, len(made.data.encode()) / 1e6

    def paint(self) -> None:
        """From data in the browser to painted; then what the page holds."""
        theirs = self.show_theirs(64)
        for heads in (1, 12):
            ours = self.show(64, heads=heads)[0]
            self.note(Figure(f"data to painted, T = 64, lines of {heads}", "ms", share=1 / 5), ours, theirs=theirs)
        address = self.folder / "page.html"
        address.write_text(views.html(self.traces[64]), encoding="utf-8")
        ours = self.open(address, "() => document.querySelector('.tiles button')")
        theirs = None
        if self.head_view is not None:
            address.write_text(self.theirs[64], encoding="utf-8")
            theirs = self.open(address, THEIRS_DONE)
        self.note(Figure("page opened from disk to painted, T = 64", "ms", share=1 / 5), ours, theirs=theirs)
        for length in LONG:
            ours, held = self.show(length)
            self.note(
                Figure(f"data to painted, T = {length}, all weights", "ms", 1200 if length == 256 else None), ours
            )
            self.note(Figure(f"held by the page, T = {length}, all weights", "MB", 200), held)

    def show(self, length: int, *, heads: int = 1) -> tuple[float, float]:
        """Milliseconds until ours is painted, megabytes of heap and buffers after collecting garbage."""
        page = self.fresh(length)
        elapsed = float(page.evaluate(SHOW, heads))
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")
        page.close()
        names = ("usedSize", "embedderHeapUsedSize", "backingStorageSize")
        return elapsed, sum(used.get(name, 0) for name in names) / 1e6

    def fresh(self, length: int) -> Page:
        """A page with a payload's bytes and the explorer's scripts, which have not run."""
        page = self.browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(SHELL)
        page.evaluate("(text) => { globalThis.bytes = toBytes(text); }", base64.b64encode(self.blobs[length]).decode())
        return page

    def show_theirs(self, length: int) -> float | None:
        """The same of BertViz: require.js, jQuery and d3 are there and have run, its own script is a string."""
        if self.head_view is None:
            return None
        markup, _, source = self.theirs[length].rpartition('<script type="text/javascript">')
        page = self.with_libraries()
        page.set_content(markup)
        page.evaluate("(text) => { globalThis.source = text; }", source.replace("</script>", ""))
        page.evaluate(
            """(source) => new Promise((resolve) => {
              (0, eval)(source);
              requirejs(["jquery", "d3"], resolve);
            }).then(() => null)""",
            source[source.index("require.config") : source.index("requirejs(")],
        )
        elapsed = float(page.evaluate(SHOW_THEIRS))
        page.close()
        return elapsed

    def with_libraries(self) -> Page:
        page = self.browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})

        def answer(route: Route) -> None:
            name = route.request.url.rpartition("/")[2].partition(".")[0]
            route.fulfill(body=self.libraries[name], content_type="text/javascript")

        if self.libraries:
            page.route(lambda url: url.endswith(".min.js"), answer)
        return page

    def open(self, path: Path, done: str) -> float:
        """Milliseconds from the start of the navigation to a saved page until it is painted."""
        page = self.with_libraries()
        page.goto(path.as_uri(), wait_until="commit")
        elapsed = float(page.evaluate(f"() => {{ {PAINTED} return painted(0, {done}); }}"))
        page.close()
        return elapsed

    def touch(self) -> None:
        """The pointer moves over each picture; the layers go by."""
        for length in TOUCHED:
            for heads in (1, 12):
                page = self.fresh(length)
                page.evaluate(SHOW, heads)
                where = f"T = {length}, lines of {heads}"
                for name, path in paths(page).items():
                    work, tasks = self.traced(page, lambda: [page.mouse.move(*place) for place in path])  # noqa: B023
                    figure = Figure(f"hover {name}, {where}: a frame's work, p95", "ms", 20)
                    self.note(figure, *np.quantile(work, 0.95, axis=0).tolist())
                    self.note(Figure(f"hover {name}, {where}: longest task", "ms", 50), *tasks.max(axis=0).tolist())
                page.mouse.move(1, 1)
                switched: list[float] = []
                work, _ = self.traced(page, lambda: switched.extend(page.evaluate(SWITCH)))  # noqa: B023
                computed = float(work[:, 1].sum()) / len(switched)
                self.note(Figure(f"layer switch, {where}", "ms", 50), statistics.median(switched), computed)
                page.close()

    def traced(self, page: Page, action: Callable[[], object]) -> tuple[Array, Array]:
        """What the page's main thread does meanwhile, per frame and per task: (n, 2), ms on the clock and computing."""
        self.browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
        action()
        page.evaluate(SETTLED)
        events = [event for event in json.loads(self.browser.stop_tracing())["traceEvents"] if event["ph"] == "X"]
        frames = sorted((event for event in events if event["name"] == "FireAnimationFrame"), key=lambda e: e["ts"])
        thread = (frames[0]["pid"], frames[0]["tid"])
        found = [e for e in events if e["name"].endswith("::RunTask") and (e["pid"], e["tid"]) == thread]
        found.sort(key=lambda event: event["ts"])
        tasks = np.array([(event["dur"], event.get("tdur", 0)) for event in found]) / 1e3
        begins = np.array([event["ts"] for event in found])
        ends = np.unique(np.searchsorted(begins, [event["ts"] for event in frames], side="right"))
        return np.add.reduceat(tasks, np.concatenate([[0], ends[:-1]])), tasks


def paths(page: Page) -> dict[str, list[tuple[float, float]]]:
    """Where the pointer goes: down both columns of tokens, over the matrix's last rows and up, across all the tiles."""
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
    """Every figure with its target."""
    lines = [f"{'figure':60} {'ours':>9} {'computing':>9} {'BertViz':>9} {'ratio':>8}  target"]
    for figure in dict.fromkeys(figure for figure, _ in samples):
        values = [samples.get((figure, who)) for who in ("ours", "computed", "theirs")]
        ours, computed, theirs = (statistics.median(found) if found else math.nan for found in values)
        best = min(ours, computed) if values[1] else ours
        target, met = "", None
        if figure.most is not None:
            target, met = f"≤ {figure.most:g} {figure.unit}", best <= figure.most
        elif figure.share is not None:
            target, met = f"≥ {1 / figure.share:g} ×", ours <= figure.share * theirs if values[2] else None
        shown = [f"{value:.{figure.digits}f}" for value in (ours, computed, theirs)] + [f"{theirs / ours:.1f} ×"]
        cells = [" " * 9 if text.startswith("nan") else f"{text:>9}" for text in shown]
        name = f"{figure.name} ({figure.unit})" if figure.unit else figure.name
        verdict = {None: "", True: "met", False: "MISSED"}[met]
        lines.append(f"{name:60} {' '.join(cells)}  {target} {verdict}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    main()
