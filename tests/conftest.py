"""Shared by all tests."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from tests.browser import HEADLESS, LOCAL, LOOKS, ROOT, Server, Visit, chromium, free_port, serve
from tests.sweep import is_swept

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

# torch and Playwright are imported by what needs them: a test of one small module is to answer at once.

# On a busy machine torch's threads wait for one another far longer than one thread needs for these small models.
os.environ["OMP_NUM_THREADS"] = "1"

# A process of the tests lives for minutes and has memory: Python's collector may look through it less often.
gc.set_threshold(100_000, 50, 1_000)

# Models that somebody has converted on this machine are not part of the tests.
os.environ["TFMVIZ_MODELS"] = str(ROOT / "no-models")

# Neither are runs that somebody trains here.
_RUNS = tempfile.TemporaryDirectory(prefix="tfmviz-runs-")
os.environ["TFMVIZ_RUNS"] = _RUNS.name

LONGEST = ("browser", "deploy", "pages", "huggingface", "classroom", "training", "zoo", "scripts", "runs", "package")
"""Folders with files that take long, the longest first."""


def pytest_configure(config: pytest.Config) -> None:
    """pytest-xdist would begin with the files that have the most tests, and end with one that takes two minutes."""
    config.option.loadscopereorder = False


def place_of(path: Path) -> int:
    folder = path.relative_to(ROOT / "tests").parts[0]
    return (*LONGEST, folder).index(folder)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by these marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest files first: those at the end fill the time in which a worker would wait for the other."""
    for item in items:
        file = PurePosixPath(item.path.relative_to(ROOT / "tests").as_posix())
        if is_swept(file):
            item.add_marker(pytest.mark.sweep)
        if file.parts[0] == "browser":
            item.add_marker(pytest.mark.browser)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place_of(item.path))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Random weights are the same in every run, whatever ran before in this process."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = shutil.which(HEADLESS) or chromium()
    if executable is None:
        message = "No Chromium found: the browser tests did not run. `make test` says how it looks for one."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import Page, expect, sync_playwright

    expect.set_options(timeout=120_000)  # a busy machine is slow, not wrong
    looks = partialmethod(Page.wait_for_function, polling=50)  # not in each frame, nor a frame for each look
    without_a_gpu = "--disable-gpu"  # else the processor would play one
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setattr(Page, "wait_for_function", looks)
        less_compiled = "--js-flags=--no-turbofan"  # a visit ends before V8's best compiler has paid for itself
        letters = "--font-render-hinting=none"  # as wide as with windows
        options = ["--no-sandbox", LOCAL, without_a_gpu, less_compiled, letters]
        launched = playwright.chromium.launch(executable_path=executable, args=options)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own, for tests with several tabs or with other settings."""
    made = new_context(browser)
    yield made
    made.close()


def new_context(browser: Browser) -> BrowserContext:
    made = browser.new_context(
        viewport={"width": 1280, "height": 844},
        accept_downloads=True,
        reduced_motion="reduce",  # an old picture may lie above a figure for 200 ms, see test_motion
    )
    made.set_default_timeout(180_000)
    made.add_init_script(path=LOOKS)
    return made


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Iterator[list[Page]]:
    """The tab that one visit leaves to the next; none before the first, nor after one that no longer answers.

    It keeps the app's scripts, compiled: loading a page there takes a third of what it takes in a new one.
    """
    kept: list[Page] = []
    yield kept
    for page in kept:
        page.context.close()


@pytest.fixture
def width() -> int:
    """Of the window, in pixels; `@pytest.mark.parametrize("width", [390])` asks for another one."""
    return 1280


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy corpus to train on."""
    from tests.training.toys import write_corpus

    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serve(ROOT / "app.py", free_port()) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, tabs: list[Page], server: Server, width: int) -> Iterator[Visit]:
    from playwright.sync_api import Error

    page = tabs.pop() if tabs else new_context(browser).new_page()
    page.set_viewport_size({"width": width, "height": 844})
    made = Visit(page, server)
    yield made
    try:
        made.look()
        made.end()
        tabs.append(page)
    except Error:
        page.context.close()
    assert made.complaints == []
