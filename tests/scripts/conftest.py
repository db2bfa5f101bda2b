"""A toy corpus for the scripts that train."""

from pathlib import Path

import pytest

from tests.training.toys import write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))
