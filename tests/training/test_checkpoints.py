"""Checkpoints and logs: a run goes on bit for bit, damage is refused, and a run that leaves the finite numbers ends."""

import errno
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.cases import each
from tests.training.runs import (
    assert_one_sentence_on,
    broken_off_after,
    card_of,
    copy_of,
    logged_losses,
    read_log,
    refused,
    run,
    run_in_two,
    words,
)
from tests.training.toys import CONFIG, SETTINGS, tiny_batches, tiny_model
from tfmviz import zoo
from tfmviz.training import averaging, checkpoint, log
from tfmviz.training.__main__ import AVERAGED
from tfmviz.training.loop import Diverged, build_optimizer, train

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


def test_settings_that_json_spells_differently_are_the_same_settings(tmp_path: Path) -> None:
    path, model = tmp_path / "checkpoint.safetensors", tiny_model()
    run = {"data": ("a.txt", "b.txt"), "rate": 0.1 + 0.2}
    checkpoint.save(path, model, build_optimizer(model, SETTINGS), step=0, run=run)
    assert checkpoint.load(path, model, build_optimizer(model, SETTINGS), run=run) == 0


def test_a_byte_that_was_flipped_anywhere_is_noticed(saved: Path) -> None:
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


def entry(step: int) -> dict[str, Any]:
    return {"step": step, "loss": 1 / (step + 3), "tokens": 7, "tokens_per_second": 14.0}


def write(path: Path, steps: range) -> Path:
    for step in steps:
        log.append(path, entry(step))
    return path


def test_what_is_appended_is_read_and_totals_are_of_all_steps_or_none(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", range(5))
    assert log.read_log(path) == [entry(step) for step in range(5)]
    assert log.totals(path, steps=5) == (35, 2.5)
    assert log.totals(path, steps=6) is None
    assert log.totals(tmp_path / "missing.jsonl", steps=5) is None
    log.append(path, {"step": 5})
    assert log.totals(path, steps=6) is None
    path.write_bytes(path.read_bytes() + b"\0" * 4096)  # as a power cut leaves it
    assert len(log.read_log(path)) == 6


@each("n_bytes", [1, 2, 11, 40])
def test_a_last_line_that_was_cut_off_is_dropped_and_the_next_one_is_whole(tmp_path: Path, n_bytes: int) -> None:
    path = write(tmp_path / "log.jsonl", range(5))
    path.write_bytes(path.read_bytes()[:-n_bytes])
    assert [found["step"] for found in log.read_log(path)] == [0, 1, 2, 3]
    log.keep_before(path, 5)
    log.append(path, entry(4))
    assert read_log(tmp_path) == [entry(step) for step in range(5)]


@each("line", [b'{"step": 1, "loss"', b"", b"\xff\xfe", b"7", b"[]", b'{"loss": 1}', b'{"step": "1"}', b"[" * 50_000])
def test_another_damaged_line_is_refused_by_its_file_and_number(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path / "log.jsonl", range(4))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(log.LogError, match=r"^Line 2 of .*log\.jsonl is not the record of a step .* Delete the line"):
        log.read_log(path)


@each("step", [2, 4])
def test_a_run_goes_on_after_a_disk_was_full_in_a_line(step: int, corpus: Path, trained: Path, tmp_path: Path) -> None:
    out, n_opened, whole_open = tmp_path / "toy", iter(range(100)), Path.open

    def open_until_full(path: Path, mode: str = "r", **how: Any) -> Any:
        file = whole_open(path, mode, **how)
        if mode == "a" and next(n_opened) == step:
            whole_write = file.write

            def write_half(text: str) -> None:
                whole_write(text[: len(text) // 2])
                raise OSError(errno.ENOSPC, "No space left on device")

            file.write = write_half  # type: ignore[assignment, method-assign]
        return file

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", open_until_full)
        assert "log.jsonl cannot be written" in refused("lm", corpus, out)
    assert not (out / "log.jsonl").read_bytes().endswith(b"\n")
    assert run("lm", corpus, out) == 0
    assert logged_losses(out) == logged_losses(trained)
    assert (out / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


def test_a_damaged_line_stops_a_run_in_one_sentence(corpus: Path, stopped: Path, tmp_path: Path) -> None:
    out = copy_of(stopped, tmp_path / "toy")
    lines = (out / "log.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (out / "log.jsonl").write_text("".join(["not a step\n", *lines[1:]]), encoding="utf-8")
    assert "Line 1 of" in refused("lm", corpus, out)


@each("left", {"no log": 0, "a part of it": 3})
def test_a_finished_run_without_its_log_is_exported(left: int, corpus: Path, trained: Path, tmp_path: Path) -> None:
    out = copy_of(trained, tmp_path / "toy")
    (out / "model.safetensors").unlink()
    lines = (out / "log.jsonl").read_bytes().splitlines(keepends=True)
    (out / "log.jsonl").unlink()
    if left:
        (out / "log.jsonl").write_bytes(b"".join(lines[:left]))
    assert run("lm", corpus, out) == 0
    assert (out / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    assert "| training | 8 steps, tokens and time unknown (the log is incomplete) |" in card_of(out)


TOO_FAST = 1e30
"""A learning rate after one update of which no loss is finite."""


def test_an_update_whose_loss_or_gradient_is_not_finite_is_not_made() -> None:
    model = tiny_model()
    with torch.no_grad():
        next(model.parameters()).fill_(torch.inf)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(Diverged, match=r"diverged: the loss in update 1 is (nan|inf)\."):
        next(train(model, build_optimizer(model, SETTINGS), tiny_batches(), SETTINGS))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    model = tiny_model()
    next(model.parameters()).register_hook(lambda gradient: gradient * torch.inf)
    with pytest.raises(Diverged, match=r"diverged: the length of the gradient in update 1 is (nan|inf)\."):
        next(train(model, build_optimizer(model, SETTINGS), tiny_batches(), SETTINGS))


@each("average", [1, 2])
def test_the_last_checkpoint_becomes_the_model(average: int, corpus: Path, trained: Path, tmp_path: Path) -> None:
    """The first updates are those of a run that ends well, which keeps a checkpoint after the third."""
    out, how = tmp_path / "toy", {"change_rate": f"4:{TOO_FAST}", "average": average, "snapshots": 9}
    with broken_off_after(3):
        run("lm", corpus, out, **how)
    told = refused("lm", corpus, out, **how)
    assert_one_sentence_on(told, "the loss in update 6 is nan", "last checkpoint, after 3 updates.")
    assert "Choose a learning rate below 1e+30, or a warm-up longer than 0 updates." in told
    assert logged_losses(out)[:4] == logged_losses(trained)[:4]
    assert np.isfinite(logged_losses(out)).all()
    assert "| training | 3 of 8 steps, then it diverged, " in card_of(out)
    kept = load_file(out / "checkpoint.safetensors")
    for name, weight in load_file(out / "model.safetensors").items():
        assert torch.equal(weight, kept[f"model.{name}"].half())
    for file in (out / "snapshots").iterdir():
        assert all(weight.isfinite().all() for weight in load_file(file).values()), file
    assert zoo.load("toy", folder=tmp_path).trace("The cat sees").first_not_finite() is None
    before = (out / "model.safetensors").read_bytes()
    assert refused("lm", corpus, out, **how) == told, "it diverges again where it did"
    assert (out / "model.safetensors").read_bytes() == before


@each("changes", {"loss": {"learning_rate": TOO_FAST}, "weights": {"change_rate": "2:1e6"}})
def test_without_a_checkpoint_there_is_no_model(changes: dict[str, Any], corpus: Path, tmp_path: Path) -> None:
    """A weight of a million is finite in training, but not in the file of a model, which the app would refuse."""
    assert_one_sentence_on(
        refused("lm", corpus, tmp_path / "toy", **changes), "diverged", "It has no checkpoint, so there is no model."
    )
    assert zoo.available(tmp_path) == ()
    assert not (tmp_path / "toy" / "CARD.md").exists()


def test_the_last_update_may_spoil_a_model(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lm", corpus, tmp_path / "toy", change_rate=f"7:{TOO_FAST}") == 1
    said = ("the model of update 8 has numbers that are not finite", "after 6 updates")
    assert_one_sentence_on(capsys.readouterr().err, *said)


def test_all_processes_of_a_run_end_and_the_first_has_the_sentence_and_the_model(corpus: Path, tmp_path: Path) -> None:
    done = run_in_two(words("translate", corpus, tmp_path / "two", change_rate=f"4:{TOO_FAST}"))
    assert done.returncode != 0
    assert done.stderr.count("Cannot train: The run has diverged: the loss in update 6 is nan") == 1
    assert "last checkpoint, after 3 updates." in done.stderr
    assert (tmp_path / "two" / "CARD.md").exists()


# A model whose weights are the mean of the last checkpoints.

Weights = dict[str, torch.Tensor]


def at_checkpoint(out: Path) -> Weights:
    """The weights with which the run would go on, in full precision."""
    tensors = load_file(out / "checkpoint.safetensors")
    return {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}


def shipped(out: Path) -> Weights:
    return load_file(out / "model.safetensors")


def mean_of(checkpoints: list[Weights]) -> Weights:
    """Rounded as models are shipped."""
    return {name: torch.stack([one[name] for one in checkpoints]).mean(dim=0).half() for name in checkpoints[0]}


def assert_close(ours: Weights, theirs: Weights) -> None:
    """Up to the last digit of half precision."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name].float(), value.float(), rtol=1e-3, atol=1e-6)


def test_the_shipped_weights_are_the_mean_of_the_last_checkpoints(corpus: Path, tmp_path: Path) -> None:
    """Of a run that is made longer twice, so that each of its checkpoints can be looked at. The first falls away."""
    out, checkpoints = tmp_path / "toy", []
    for steps in (4, 6, 8):
        assert run("translate", corpus, out, warmup=2, save_every=2, average=3, steps=steps) == 0
        checkpoints.append(at_checkpoint(out))
    assert_close(shipped(out), mean_of(checkpoints))
    assert any(not value.equal(checkpoints[-1][name].half()) for name, value in shipped(out).items())
    assert "| weights | mean of 3 checkpoints, after steps 4, 6, 8 |" in card_of(out)
    assert sorted(file.name for file in (out / AVERAGED).iterdir()) == [f"000000{n}.safetensors" for n in (4, 6, 8)]

    assert run("translate", corpus, out, warmup=2, save_every=2, average=2) == 0  # the same run, but for a shorter mean
    assert_close(shipped(out), mean_of(checkpoints[1:]))

    assert run("translate", corpus, out, warmup=2, save_every=2) == 0  # the same run, without the mean
    assert all(value.equal(checkpoints[-1][name].half()) for name, value in shipped(out).items())
    assert "| weights |" not in card_of(out)


def test_only_kept_weights_within_a_run_are_averaged(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "toy"
    assert run("induction", corpus, out, steps=2) == 0
    before = (out / "model.safetensors").read_bytes()
    assert "--average" in refused("induction", corpus, out, steps=2, average=5)
    assert (out / "model.safetensors").read_bytes() == before
    model = torch.nn.Linear(2, 3)
    for step in (5, 50, 500):
        averaging.keep(tmp_path, model, step=step, n=7)
    assert [int(file.stem) for file in averaging.kept(tmp_path, until=50)] == [5, 50]
    (tmp_path / "0000050.safetensors").write_bytes(b"torn")
    with pytest.raises(ValueError, match=r"0000050\.safetensors holds no weights"):
        averaging.average(model, averaging.kept(tmp_path, until=50))
