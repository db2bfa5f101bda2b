"""One node for the tests of a file."""

from collections.abc import Iterator

import pytest

from tests.engine import Engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    made = Engine(tmp_path_factory.mktemp("engine"))
    yield made
    made.end()
