"""Finding a Chromium and serving an app to it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Server:
    """A running Streamlit server."""

    address: str
    process: subprocess.Popen[bytes]


def chromium() -> str | None:
    """Path of a Chromium: the system's, else the one Playwright has fetched; None if there is neither."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def serve(script: Path, port: int) -> Server:
    """Starts `streamlit run script` in the script's folder, with the settings found there, and waits until it answers.

    Raises:
        RuntimeError: it did not within 30 seconds.
    """
    options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script.name, *options, "--browser.gatherUsageStats=false"],
        cwd=script.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server(f"http://127.0.0.1:{port}", process)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=1):
                return server
        except OSError:
            time.sleep(0.05)  # between two looks, not for a fixed time
    process.kill()
    raise RuntimeError(f"{script} was not served at {server.address}.")
