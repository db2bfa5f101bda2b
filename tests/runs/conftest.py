"""Shared by the tests of runs."""

from collections.abc import Iterator

import pytest

from tests.runs.started import Started, waiting


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    with waiting(monkeypatch) as found:
        yield found
