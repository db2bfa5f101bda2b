"""The processes of runs: their numbers are the terminal's, and a server that is killed leaves them to the next one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tfmviz.training.__main__ as command
from tests.asking import wait_until
from tests.training.runs import ROOT, broken_off_after, read_log
from tfmviz import zoo
from tfmviz.runs import processes, records
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder
from tfmviz.runs.manager import RunManager, updates_done
from tfmviz.training import checkpoint, log
from tfmviz.zoo import snapshots

TINY = Choices(task="copy", layers=1, heads=1, width=16, steps=5, warmup=2, dropout=0.1, seed=7)


def in_the_terminal(folder: Path, choices: Choices) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["tfmviz.training", *choices.command()])
        return command.main()


def test_a_run_that_was_broken_off_goes_on_in_a_process_with_the_numbers_of_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "terminal").mkdir()
    assert in_the_terminal(tmp_path / "terminal", TINY) == 0

    desk = RunManager(tmp_path / "runs", at_once=0)
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
    log = records.read_records(folder.model / "log.jsonl")
    assert log.steps.tolist() == [1, 2, 3, 4, 5]
    assert log.evaluated.tolist() == [1, 2, 3, 4, 5]
    assert snapshots.steps(folder.model) == (1, 2, 3, 4, 5)
    assert zoo.load("model", folder=folder.path).config.d_model == 16
    assert str(tmp_path) not in (folder.model / "CARD.md").read_text(encoding="utf-8")


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


SERVES = """
import json, sys
from pathlib import Path
from tfmviz.runs.choices import Choices
from tfmviz.runs.manager import RunManager
manager = RunManager(Path(sys.argv[1]), at_once=1)
for asked in sys.argv[2:]:
    print(manager.submit(Choices(**json.loads(asked)), {}), flush=True)
manager.watch()
sys.stdin.read()
"""
"""What a server does for its runs: it takes them in, starts them, and looks after them in a thread."""

LONG = Choices(task="copy", layers=1, heads=1, width=16, steps=2000, warmup=2, dropout=0.1)
"""It goes on for longer than it takes to see that it has begun."""


@contextmanager
def server(root: Path, *asked: Choices) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVES, str(root), *(json.dumps(choices.to_dict()) for choices in asked)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_run_outlives_its_server_and_the_next_one_takes_it_up_at_its_last_checkpoint(tmp_path: Path) -> None:
    with server(tmp_path, LONG) as first:
        assert first.stdout is not None
        folder = Folder(tmp_path / first.stdout.readline().strip())
        wait_until((folder.model / "checkpoint.safetensors").exists, "the first checkpoint")
        worker = folder.holder()
        assert worker is not None
        first.send_signal(signal.SIGKILL)
        first.wait()
        seen = updates_done(folder)
        wait_until(lambda: updates_done(folder) > seen, "another update without a server")
        assert folder.holder() == worker
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: folder.holder() is None, "the end of the worker")

    before, saved = (
        log.read_log(folder.model / "log.jsonl"),
        checkpoint.read_checkpoint(folder.model / "checkpoint.safetensors")[2],
    )
    assert len(before) - saved <= LONG.save_every
    assert RunManager(tmp_path, at_once=1).see(folder.address).state == "queued"

    with server(tmp_path):
        wait_until(lambda: updates_done(folder) > len(before), "an update after those before")
        after = log.read_log(folder.model / "log.jsonl")
        RunManager(tmp_path, at_once=1).stop(folder.address)
    assert [entry["step"] for entry in after] == list(range(len(after)))
    assert after[:saved] == before[:saved]  # with the time each took: they are not done again
    assert [entry["loss"] for entry in after[saved : len(before)]] == [entry["loss"] for entry in before[saved:]]
