"""A site of two small models, and a visitor of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.site import SMALL, Visitor
from tfmviz import site


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.write(tmp_path_factory.mktemp("site"), SMALL).parent


@pytest.fixture
def visitor(context: BrowserContext, folder: Path) -> Iterator[Visitor]:
    made = Visitor(context, folder)
    yield made
    assert made.complaints == []
