"""Shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser import chromium

# On a busy machine torch's threads wait for one another far longer than one thread needs for these small models.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium()
    if executable is None:
        message = "No Chromium found: the browser tests did not run. `make test` says how it looks for one."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    made.set_default_timeout(30_000)
    yield made
    made.close()
