"""The log of a run: a cut-off line is dropped, a damaged one is named, and no step is missing or doubled."""

import errno
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.training.results import card_of, copy_of, logged_losses, read_log
from tests.training.runs import refused, run
from tfmviz.training import log


def entry(step: int) -> dict[str, Any]:
    return {"step": step, "loss": 1 / (step + 3), "tokens": 7, "tokens_per_second": 14.0}


def write(path: Path, steps: range) -> Path:
    for step in steps:
        log.append(path, entry(step))
    return path


def test_what_is_appended_is_read_and_totals_are_of_all_steps_or_none(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", range(5))
    assert log.read(path) == [entry(step) for step in range(5)]
    assert log.totals(path, steps=5) == (35, 2.5)
    assert log.totals(path, steps=6) is None
    assert log.totals(tmp_path / "missing.jsonl", steps=5) is None
    log.append(path, {"step": 5})
    assert log.totals(path, steps=6) is None
    path.write_bytes(path.read_bytes() + b"\0" * 4096)  # as a power cut leaves it
    assert len(log.read(path)) == 6


@each("n_bytes", [1, 2, 11, 40])
def test_a_last_line_that_was_cut_off_is_dropped_and_the_next_one_is_whole(tmp_path: Path, n_bytes: int) -> None:
    path = write(tmp_path / "log.jsonl", range(5))
    path.write_bytes(path.read_bytes()[:-n_bytes])
    assert [found["step"] for found in log.read(path)] == [0, 1, 2, 3]
    log.keep_before(path, 5)
    log.append(path, entry(4))
    assert read_log(tmp_path) == [entry(step) for step in range(5)]


@each("step", [0, 1, 3, 9])
def test_the_steps_that_are_run_again_are_dropped(tmp_path: Path, step: int) -> None:
    path = write(tmp_path / "log.jsonl", range(4))
    log.keep_before(path, step)
    assert log.read(path) == [entry(step) for step in range(min(step, 4))]


@each("line", [b'{"step": 1, "loss"', b"", b"\xff\xfe", b"7", b"[]", b'{"loss": 1}', b'{"step": "1"}', b"[" * 50_000])
def test_another_damaged_line_is_refused_by_its_file_and_number(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path / "log.jsonl", range(4))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(log.LogError, match=r"^Line 2 of .*log\.jsonl is not the record of a step .* Delete the line"):
        log.read(path)


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


def test_an_unwritable_log_stays(corpus: Path, stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = copy_of(stopped, tmp_path / "toy")
    before = (out / "log.jsonl").read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert run("lm", corpus, out) == 1
    assert (out / "log.jsonl").read_bytes() == before


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
