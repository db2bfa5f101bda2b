"""Writing that survives a full disk and a second run in the same folder."""

import errno
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.runs.started import HOLDS
from tests.training.runs import (
    ROOT,
    assert_one_sentence_on,
    assert_same_weights,
    broken_off_after,
    copy_of,
    logged_losses,
    refused,
    run,
)
from tfmviz import zoo
from tfmviz.training import export
from tfmviz.training.files import replacing, sole_use_of

EXPORTED = ("model.safetensors", "config.json", "tokenizer.json", "CARD.md")


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def half_written(_: Any, path: Path) -> None:
    path.write_bytes(b"half")
    full()


def read_all(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def write_anew(folder: Path, names: str, then: Callable[[], None] = lambda: None) -> None:
    """Files with these letters take the places of old ones together."""
    with replacing(*(folder / name for name in names)) as written:
        for file in written:
            file.write_text("new")
        then()


def old(folder: Path, names: str) -> Path:
    for name in names:
        (folder / name).write_text("old")
    return folder


def test_files_take_the_places_of_old_ones_together(tmp_path: Path) -> None:
    left: list[dict[str, bytes]] = []
    write_anew(old(tmp_path, "a"), "ab", lambda: left.append(read_all(tmp_path)))
    assert left[0]["a"] == b"old"
    assert "b" not in left[0]
    assert read_all(tmp_path) == {"a": b"new", "b": b"new"}


@each("fails_at", ["writing", "fsync"])
def test_a_write_that_fails_leaves_the_old_files_and_names_them(tmp_path: Path, fails_at: str) -> None:
    old(tmp_path, "ab")
    n_synced = iter(range(10))
    with pytest.MonkeyPatch.context() as patch:
        if fails_at == "fsync":  # of the second file
            patch.setattr(os, "fsync", lambda _: full() if next(n_synced) else None)
        with pytest.raises(OSError, match=r"a, .*b cannot be written \(.*No space left"):
            write_anew(tmp_path, "ab", full if fails_at == "writing" else lambda: None)
    assert read_all(tmp_path) == {"a": b"old", "b": b"old"}


def the_second_move_fails(patch: pytest.MonkeyPatch) -> None:
    replace, n_moved = Path.replace, iter(range(10))
    patch.setattr(Path, "replace", lambda path, target: replace(path, target) if next(n_moved) != 1 else full())


def test_a_file_that_cannot_take_its_place_leaves_itself_and_those_after_it_old(tmp_path: Path) -> None:
    old(tmp_path, "abc")
    with pytest.MonkeyPatch.context() as patch:
        the_second_move_fails(patch)
        with pytest.raises(OSError, match="cannot be written"):
            write_anew(tmp_path, "abc")
    assert read_all(tmp_path) == {"a": b"new", "b": b"old", "c": b"old"}


def test_a_run_keeps_both_files_though_its_first_start_could_not_move_them(corpus: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        the_second_move_fails(patch)
        refused("lm", corpus, tmp_path / "toy")
    with broken_off_after(0):
        run("lm", corpus, tmp_path / "toy")
    assert {"config.json", "tokenizer.json"} <= {file.name for file in (tmp_path / "toy").iterdir()}


def test_a_file_is_on_the_disk_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: done.append("fsync"))
    monkeypatch.setattr(Path, "replace", lambda *_: done.append("replace"))
    write_anew(tmp_path, "ab")
    assert done == ["fsync", "fsync", "replace", "replace"]


@each("mask", [0o022, 0o027])
def test_an_exported_model_can_be_read_by_whom_the_umask_allows(mask: int, corpus: Path, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        assert run("lm", corpus, tmp_path / "toy", steps=1, snapshots=2) == 0
    finally:
        os.umask(before)
    files = [file for file in (tmp_path / "toy").rglob("*") if file.is_file()]
    assert {*EXPORTED, "checkpoint.safetensors", "0000001.safetensors"} <= {file.name for file in files}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o666 & ~mask}


@each("name", EXPORTED)
def test_an_export_on_a_full_disk_leaves_the_old_model(name: str, corpus: Path, trained: Path, tmp_path: Path) -> None:
    out = copy_of(trained, tmp_path / "toy")
    (out / "CARD.md").write_text("written by hand", encoding="utf-8")
    before, n_partial = read_all(out), EXPORTED.index(name)
    with pytest.MonkeyPatch.context() as patch:
        if name == "model.safetensors":
            patch.setattr(export, "save_file", half_written)
        else:  # the first files can be written, the next one cannot
            n_synced = iter(range(10))
            patch.setattr(os, "fsync", lambda _: full() if next(n_synced) > n_partial else None)
        told = refused("lm", corpus, out)
    assert re.search(r"model\.safetensors.* cannot be written .*No space left", told)
    assert read_all(out) == before
    assert run("lm", corpus, out) == 0  # with room, the same command ends the work
    assert (out / "CARD.md").read_bytes() == (trained / "CARD.md").read_bytes().replace(bytes(trained), bytes(out))
    assert zoo.load("toy", folder=tmp_path).trace("The cat").tokens


def test_a_folder_that_was_used_keeps_nothing_of_it(tmp_path: Path) -> None:
    with sole_use_of(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert list(tmp_path.iterdir()) == []
    with sole_use_of(tmp_path / "new"):
        (tmp_path / "new" / "file").touch()
    (tmp_path / "old").mkdir()
    with sole_use_of(tmp_path / "old"):
        pass
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")} == {"new", "new/file", "old"}


def test_a_second_run_in_the_folder_of_a_running_one_ends_in_one_sentence_and_a_killed_one_frees_it(
    corpus: Path, stopped: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = copy_of(stopped, tmp_path / "model")
    before = read_all(out)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert run("lm", corpus, out) == 1
        who = f"in use by another run (process {holder.pid} on {socket.gethostname()}, since "
        assert_one_sentence_on(capsys.readouterr().err, who)
        assert read_all(out) | {".lock": b""} == before | {".lock": b""}
    finally:
        holder.kill()
        holder.communicate()
    assert run("lm", corpus, out) == 0
    assert logged_losses(out) == logged_losses(trained)
    assert_same_weights(out, trained)
