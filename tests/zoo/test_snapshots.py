"""A model at several steps of its training."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.cases import each
from tfmviz import zoo
from tfmviz.zoo import ModelUnavailable, snapshots

FOLDER = zoo.MODELS / "induction"
TEXT = "The cat sat on the mat."


def test_the_steps_are_those_of_the_files_and_each_has_its_weights(tmp_path: Path) -> None:
    assert snapshots.steps(FOLDER) == tuple(sorted(int(file.stem) for file in (FOLDER / "snapshots").iterdir()))
    assert snapshots.steps(zoo.MODELS / "reverse") == ()
    (tmp_path / "snapshots").mkdir()
    for name in ("0000010.safetensors", "0000010.safetensors.partial", "10.safetensors", "x.safetensors"):
        (tmp_path / "snapshots" / name).touch()
    assert snapshots.steps(tmp_path) == (10,)
    last, early, model = snapshots.load(FOLDER, 4000), snapshots.load(FOLDER, 48), zoo.load("induction")
    np.testing.assert_array_equal(last.trace(TEXT)["logits"], model.trace(TEXT)["logits"])
    stored = load_file(FOLDER / "snapshots" / "0000048.safetensors")
    assert early.name == "induction, step 48"
    np.testing.assert_array_equal(early.weights.W_E, stored["embedding.W_E"].astype(np.float32))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda folder: (folder / "snapshots" / "0000048.safetensors").unlink(),
    "cut off": lambda folder: os.truncate(folder / "snapshots" / "0000048.safetensors", 1000),
    "no config": lambda folder: (folder / "config.json").unlink(),
}


@each("damage", DAMAGES)
def test_a_damaged_snapshot_is_refused_in_a_sentence(damage: Callable[[Path], object], tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "induction")
    damage(folder)
    with pytest.raises(ModelUnavailable, match="induction after step 48 cannot be loaded"):
        snapshots.load(folder, 48)
