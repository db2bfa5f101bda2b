"""Finding a Chromium and driving the app in it."""

from __future__ import annotations

import shutil
from pathlib import Path


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
