"""The process of a run: its numbers are those of the terminal, and it gets nothing that it does not need."""

import os
import sys
from pathlib import Path

import pytest

import tfmviz.training.__main__ as command
from tests.training.results import read_log
from tests.training.runs import broken_off_after
from tfmviz import zoo
from tfmviz.runs import processes, records
from tfmviz.runs.choices import Choices
from tfmviz.runs.desk import Desk
from tfmviz.runs.folder import Folder
from tfmviz.zoo import snapshots

TINY = Choices(task="copy", layers=1, heads=1, width=16, steps=5, warmup=2, dropout=0.1, seed=7)


def in_the_terminal(folder: Path, choices: Choices) -> int:
    """Runs the command of a run in this process, in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["tfmviz.training", *choices.command()])
        return command.main()


def test_a_run_that_was_broken_off_goes_on_in_a_process_with_the_numbers_of_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "terminal").mkdir()
    assert in_the_terminal(tmp_path / "terminal", TINY) == 0

    desk = Desk(tmp_path / "runs", at_once=0)
    folder = desk.folder(desk.submit(TINY, {}))
    with broken_off_after(2):
        in_the_terminal(folder.path, TINY)
    process = processes.start(folder)
    try:
        assert process.wait(timeout=600) == 0
    finally:
        process.kill()

    assert folder.is_finished
    for name in ("loss", "grad_norm", "learning_rate"):
        here, there = (
            [entry[name] for entry in read_log(place)] for place in (folder.model, tmp_path / "terminal" / "model")
        )
        assert here == there, name
    log = records.read(folder.model / "log.jsonl")
    assert log.steps.tolist() == [1, 2, 3, 4, 5]
    assert log.evaluated.tolist() == [1, 2, 3, 4, 5]
    assert snapshots.steps(folder.model) == (1, 2, 3, 4, 5)
    assert zoo.load("model", folder=folder.path).config.d_model == 16
    card = (folder.model / "CARD.md").read_text(encoding="utf-8")
    assert str(tmp_path) not in card


def test_the_process_inherits_no_secret_stands_back_and_does_not_hear_the_servers_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nenv > environment.txt\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setenv("SECRET_TOKEN", "do not pass on")
    folder = Folder.new(tmp_path / "runs", TINY, {})
    process = processes.start(folder)
    niceness = os.getpriority(os.PRIO_PROCESS, process.pid)  # it is ours until somebody waits for it
    session = os.getsid(process.pid)
    assert process.wait(timeout=600) == 0
    assert niceness == min(19, os.getpriority(os.PRIO_PROCESS, 0) + processes.NICER)
    assert session != os.getsid(0)  # Ctrl-C, and the end of the terminal, are told to a session
    seen = (folder.path / "environment.txt").read_text(encoding="utf-8")
    assert "OMP_NUM_THREADS=1" in seen
    assert "SECRET_TOKEN" not in seen
