"""Shared by the tests of runs."""

from collections.abc import Iterator

import pytest

from tests.runs.started import Started
from tfmviz.runs import processes


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    found = Started()
    monkeypatch.setattr(processes, "start", found.start)
    yield found
    for _, process in found:
        process.kill()
        process.communicate()
