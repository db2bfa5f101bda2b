"""Visits to the explorer's own page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.views.standalone import Standalone


@pytest.fixture
def standalone(context: BrowserContext, tmp_path: Path) -> Iterator[Standalone]:
    made = Standalone(context, tmp_path)
    yield made
    assert made.complaints == []
