"""The site that needs no server of ours, on a web server's one core: 1,000 page loads a minute; and its first picture.

    python -m bench.site [--loads 1000] [--seconds 60] [--rounds 11]

A load is what a first visit fetches before and right after its first picture: the page, the first model, the script of
what stands below; nothing is cached. Loads begin at even intervals, however long earlier ones take. The server is nginx
with one worker on one core, if it is there; else Python's own, on all cores, which says little about nginx. Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import chromium, free_port
from tfmviz import site
from tfmviz.views import site as view

CLIENTS = 64

HERTZ = os.sysconf("SC_CLK_TCK")

CONFIG = """
worker_processes 1;
worker_cpu_affinity 01;
daemon off;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    types {{ text/html html; text/javascript js; application/json json; }}
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""

DRAWN = """new MutationObserver((_, observer) => {
    if (!document.querySelector(".tiles button")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { globalThis.drawn = performance.now(); }));
}).observe(document, { childList: true, subtree: true });"""
"""Notes when the first heads have been painted, in milliseconds since the address was entered."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = site.write(Path(folder) / "site", site.MODELS).parent
        sizes = [path.stat().st_size for path in root.rglob("*") if path.is_file()]
        first = len(view.JS.encode())
        print(f"{sum(sizes) / 1e6:.1f} MB in {len(sizes)} files; the first script has {first:,} bytes")
        with serving(root, Path(folder)) as (port, process):
            print(f"first picture: {first_picture(port, args.rounds)}")
            print(load(root, port, process.pid, args.loads, args.seconds))


@contextmanager
def serving(root: Path, folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A web server for a folder: nginx on the first core, else Python's."""
    port, nginx = free_port(), shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx:
        config = folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=folder, port=port, root=root), encoding="utf-8")
        command = [nginx, "-p", str(folder), "-c", str(config)]
    else:
        print("There is no nginx: Python's own server answers.")
        command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(root)]
    os.chmod(folder, 0o755)  # nginx reads as another user
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with suppress(OSError):
                fetch(port, "/")
                break
            time.sleep(0.05)
        yield port, process
    finally:
        process.terminate()
        process.wait()


def first_picture(port: int, rounds: int) -> str:
    """Each time in a browser with an empty cache."""
    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for _ in range(rounds):
            context = browser.new_context()
            page = context.new_page()
            page.add_init_script(DRAWN)
            page.goto(f"http://127.0.0.1:{port}/")
            page.locator(".tiles button").first.wait_for(state="attached")
            page.wait_for_function("() => globalThis.drawn !== undefined")
            times.append(page.evaluate("() => globalThis.drawn"))
            context.close()
        browser.close()
    return f"median {statistics.median(times):.0f} ms, from {min(times):.0f} to {max(times):.0f}"


def load(root: Path, port: int, server: int, loads: int, seconds: float) -> str:
    """Loads at even intervals: errors, their times, the processor time of the server."""
    addresses = visited(root)
    began, cpu = time.monotonic(), used(server)

    def visit(n: int) -> float:
        due = began + n * seconds / loads
        time.sleep(max(0.0, due - time.monotonic()))
        for address in addresses:
            fetch(port, address)
        return time.monotonic() - due

    times, errors = [], 0
    with ThreadPoolExecutor(CLIENTS) as pool:
        for task in [pool.submit(visit, n) for n in range(loads)]:
            try:
                times.append(task.result())
            except (OSError, http.client.HTTPException, ValueError):
                errors += 1
    took = time.monotonic() - began
    p50, p95 = (statistics.quantiles(times, n=100)[at] * 1000 for at in (49, 94))
    share = (used(server) - cpu) / took
    return (
        f"{loads} loads in {took:.0f} s, {len(addresses)} files each: {errors} errors; a load takes {p50:.0f} ms "
        f"(p95 {p95:.0f} ms); the server computes {share:.1%} of a core"
    )


def visited(root: Path) -> list[str]:
    """The addresses that a first visit fetches."""
    page = (root / "index.html").read_text(encoding="utf-8")
    found = re.search(r'id="site">(.*?)</script>', page)
    assert found
    said = json.loads(found[1])
    parcel = said["models"][0]["parcel"]
    return ["/", *(f"/{parcel['at']}/{n}" for n in range(parcel["parts"])), f"/{said['scripts']['below']}"]


def fetch(port: int, address: str) -> bytes:
    """Raises: OSError, HTTPException; ValueError: the answer is no page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", address)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status != 200 or not data:
            raise ValueError(f"{address}: {answer.status}")
        return data
    finally:
        connection.close()


def used(server: int) -> float:
    """Seconds of a processor that a process and its children have had."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(folder.name) == server or int(fields[1]) == server:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / HERTZ


if __name__ == "__main__":
    main()
