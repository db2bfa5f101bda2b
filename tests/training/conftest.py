"""Runs on a toy corpus that several files look at. Tests copy a run's folder before they change it."""

from pathlib import Path

import pytest

from tests.training.runs import broken_off_after, run


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder as the command line leaves it."""
    out = tmp_path_factory.mktemp("models") / "toy"
    assert run("lm", corpus, out) == 0
    return out


@pytest.fixture(scope="session")
def stopped(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run was interrupted after five of eight steps, two after the last save."""
    out = tmp_path_factory.mktemp("stopped") / "toy"
    with broken_off_after(4):
        run("lm", corpus, out)
    return out
