"""Visits to the explorer's own page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.views.standalone import Standalone


@pytest.fixture
def standalone(context: BrowserContext, tmp_path: Path) -> Iterator[Standalone]:
    made = Standalone(context, tmp_path)
    yield made
    assert made.complaints == []


@pytest.fixture
def visitor(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Standalone]]:
    contexts: list[BrowserContext] = []
    made: list[Standalone] = []

    def visit(**settings: Any) -> Standalone:
        contexts.append(browser.new_context(**settings))
        made.append(Standalone(contexts[-1], tmp_path))
        return made[-1]

    yield visit
    for context in contexts:
        context.close()
    assert [complaint for one in made for complaint in one.complaints] == []
