"""A checkpoint on disk."""

import shutil
from pathlib import Path

import pytest

from tests.huggingface.folders import write


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    write(folder, "llama")
    return folder


@pytest.fixture
def checkpoint(written: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(written, tmp_path / "checkpoint")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reader's own folder of models."""
    monkeypatch.setenv("TFMVIZ_MODELS", str(tmp_path / "own"))
    return tmp_path / "own"
