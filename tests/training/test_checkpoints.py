"""Checkpoints: a run goes on bit for bit, or is refused by name."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.cases import each
from tests.training.toys import CONFIG, SETTINGS, tiny_batches, tiny_model
from tfmviz.training import checkpoint
from tfmviz.training.loop import build_optimizer, train

RUN = asdict(SETTINGS) | CONFIG.to_dict()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.safetensors"
    model = tiny_model()
    optimizer = build_optimizer(model, SETTINGS)
    next(train(model, optimizer, tiny_batches(), SETTINGS))
    checkpoint.save(path, model, optimizer, step=1, run=RUN)
    return path


def load_into_a_fresh_model(path: Path, run: dict[str, Any] | None = None) -> int:
    model = tiny_model(seed=99)
    return checkpoint.load(path, model, build_optimizer(model, SETTINGS), run=RUN if run is None else run)


@each(
    "change, message",
    [
        ({"d_model": 24}, "d_model: 20 there, 24 now"),
        ({"learning_rate": 1e-3}, r"learning_rate: 0\.003 there, 0\.001 now"),
        ({"positions": "alibi", "seed": 6}, "positions: rope there, alibi now; seed: 5 there, 6 now"),
        ({"batch_size": 8}, "batch_size: None there, 8 now"),
    ],
)
def test_another_run_is_refused_by_the_settings_that_differ(saved: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(checkpoint.CheckpointError, match=f"another run .{message}.\\."):
        load_into_a_fresh_model(saved, RUN | change)


def test_settings_that_json_spells_differently_are_the_same_settings(tmp_path: Path) -> None:
    path, model = tmp_path / "checkpoint.safetensors", tiny_model()
    run = {"data": ("a.txt", "b.txt"), "rate": 0.1 + 0.2}
    checkpoint.save(path, model, build_optimizer(model, SETTINGS), step=0, run=run)
    assert checkpoint.load(path, model, build_optimizer(model, SETTINGS), run=run) == 0


def test_a_byte_that_was_flipped_anywhere_is_noticed(saved: Path) -> None:
    """In the header, in the settings, in the weights and in the moments; the file is named, and what to do."""
    whole = saved.read_bytes()
    for keep in (0, 5, 1000, -1):
        saved.write_bytes(whole[:keep])
        with pytest.raises(checkpoint.CheckpointError, match=r"checkpoint\.safetensors is not a readable checkpoint"):
            load_into_a_fresh_model(saved)
    places = {8, whole.index(b"checksum"), whole.index(b"learning_rate"), whole.index(b"W_E"), len(whole) - 1}
    for place in sorted({*places, *range(9, len(whole), 997)}):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 0x01]) + whole[place + 1 :])
        with pytest.raises(checkpoint.CheckpointError, match=r"checkpoint\.safetensors is .* delete it to train from"):
            load_into_a_fresh_model(saved)
    saved.write_bytes(whole)
    assert load_into_a_fresh_model(saved) == 1


def test_the_checksum_covers_names_types_shapes_numbers_and_the_header() -> None:
    ones = torch.ones(2, 3)
    sums = [
        checkpoint.checksum({"a": ones}, {}),
        checkpoint.checksum({"b": ones}, {}),
        checkpoint.checksum({"a": torch.ones(3, 2)}, {}),
        checkpoint.checksum({"a": ones.view(torch.int32)}, {}),
        checkpoint.checksum({"a": -ones}, {}),
        checkpoint.checksum({"a": ones}, {"step": "1"}),
    ]
    assert len(set(sums)) == len(sums)
    assert checkpoint.checksum({"a": ones.clone()}, {}) == sums[0]


UNREADABLE = "is not a readable checkpoint"
STEP, SETTINGS_OF_IT = {"step": "1"}, {"run": json.dumps(RUN)}


@each(
    "lost, metadata, said",
    [
        ("model.embedding.W_E", STEP | SETTINGS_OF_IT, "is not complete: model.embedding.W_E"),
        ("optimizer.exp_avg.embedding.W_E", STEP | SETTINGS_OF_IT, "is not complete: optimizer"),
        ("", SETTINGS_OF_IT, rf"{UNREADABLE} \('step'"),
        ("", STEP, rf"{UNREADABLE} \('run'"),
        ("", STEP | {"run": "not JSON"}, UNREADABLE),
        ("", STEP | {"run": "[1, 2]"}, UNREADABLE),
        ("", {"step": "one"} | SETTINGS_OF_IT, f"{UNREADABLE} .*'one'"),
        ("", None, UNREADABLE),
        ("checksum", STEP | SETTINGS_OF_IT, ".*'checksum'"),
    ],
)
def test_what_lacks_something_is_refused(saved: Path, lost: str, metadata: dict[str, str] | None, said: str) -> None:
    tensors = {name: value for name, value in load_file(saved).items() if name != lost}
    damaged = saved.with_name("damaged checkpoint.safetensors")
    if metadata is not None and lost != "checksum":
        metadata = metadata | {"checksum": checkpoint.checksum(tensors, metadata)}
    save_file(tensors, damaged, metadata=metadata)
    with pytest.raises(checkpoint.CheckpointError, match=rf"checkpoint\.safetensors {said}"):
        load_into_a_fresh_model(damaged)


def test_saving_leaves_one_file_of_plain_tensors_and_changes_nothing(saved: Path) -> None:
    kinds = ("model", "optimizer.step", "optimizer.exp_avg", "optimizer.exp_avg_sq")
    names = [name for name, _ in tiny_model().named_parameters()]
    assert load_file(saved).keys() == {f"{kind}.{name}" for kind in kinds for name in names}
    model = tiny_model()
    optimizer = build_optimizer(model, SETTINGS)
    next(train(model, optimizer, tiny_batches(), SETTINGS))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    checkpoint.save(saved, model, optimizer, step=2, run=RUN)
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]
    assert load_into_a_fresh_model(saved) == 2
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_save_that_fails_leaves_the_last_good_checkpoint(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_is_full(_: Any, path: Path, **__: Any) -> None:
        path.write_bytes(b"half a file")
        raise OSError("No space left on device")

    before, model = saved.read_bytes(), tiny_model(seed=99)
    monkeypatch.setattr(checkpoint, "save_file", disk_is_full)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(saved, model, build_optimizer(model, SETTINGS), step=2, run=RUN)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]
