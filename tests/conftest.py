"""Shared by all tests."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import ROOT, Server, Visit, chromium, free_port, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

# torch and Playwright are imported by what needs them: a test of one small module is to answer at once.

# On a busy machine torch's threads wait for one another far longer than one thread needs for these small models.
os.environ["OMP_NUM_THREADS"] = "1"

# Models that somebody has converted on this machine are not part of the tests.
os.environ["TFMVIZ_MODELS"] = str(ROOT / "no-models")

# Neither are runs that somebody trains here.
_RUNS = tempfile.TemporaryDirectory(prefix="tfmviz-runs-")
os.environ["TFMVIZ_RUNS"] = _RUNS.name


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Random weights are the same in every run, whatever ran before in this process."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium()
    if executable is None:
        message = "No Chromium found: the browser tests did not run. `make test` says how it looks for one."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=120_000)  # a busy machine is slow, not wrong
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(params=[1280])
def context(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """A browser's window; `@pytest.mark.parametrize("context", [390], indirect=True)` asks for another width."""
    made = browser.new_context(viewport={"width": request.param, "height": 844}, accept_downloads=True)
    made.set_default_timeout(180_000)
    yield made
    made.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The app."""
    running = serve(ROOT / "app.py", free_port())
    yield running
    running.process.kill()
    running.process.wait()


@pytest.fixture
def visit(context: BrowserContext, server: Server) -> Iterator[Visit]:
    made = Visit(context, server)
    yield made
    assert made.complaints == []
