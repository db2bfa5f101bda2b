"""A server that is killed leaves its runs alone, and one that comes after it takes them up again: real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.training.runs import ROOT
from tfmviz.runs.choices import Choices
from tfmviz.runs.desk import Desk, updates_done
from tfmviz.runs.folder import Folder
from tfmviz.training import checkpoint, log

SERVES = """
import json, sys
from pathlib import Path
from tfmviz.runs.choices import Choices
from tfmviz.runs.desk import Desk
desk = Desk(Path(sys.argv[1]), at_once=1)
for asked in sys.argv[2:]:
    print(desk.submit(Choices(**json.loads(asked)), {}), flush=True)
desk.watch()
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


def until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 600
    while not happened():
        assert time.monotonic() < deadline, f"{what} has not happened within ten minutes"
        time.sleep(0.02)  # between two looks, not for a fixed time


def test_a_run_outlives_its_server_and_the_next_one_takes_it_up_at_its_last_checkpoint(tmp_path: Path) -> None:
    with server(tmp_path, LONG) as first:
        assert first.stdout is not None
        folder = Folder(tmp_path / first.stdout.readline().strip())
        until((folder.model / "checkpoint.safetensors").exists, "the first checkpoint")
        worker = folder.holder()
        assert worker is not None
        first.send_signal(signal.SIGKILL)
        first.wait()
        seen = updates_done(folder)
        until(lambda: updates_done(folder) > seen, "another update without a server")
        assert folder.holder() == worker
        os.kill(worker, signal.SIGKILL)
        until(lambda: folder.holder() is None, "the end of the worker")

    before, saved = log.read(folder.model / "log.jsonl"), checkpoint.read(folder.model / "checkpoint.safetensors")[2]
    assert len(before) - saved <= LONG.save_every
    assert Desk(tmp_path, at_once=1).see(folder.address).state == "queued"

    with server(tmp_path):
        until(lambda: updates_done(folder) > len(before), "an update after those before")
        after = log.read(folder.model / "log.jsonl")
        Desk(tmp_path, at_once=1).stop(folder.address)
    assert [entry["step"] for entry in after] == list(range(len(after)))
    assert after[:saved] == before[:saved]  # with the time each took: they are not done again
    assert [entry["loss"] for entry in after[saved : len(before)]] == [entry["loss"] for entry in before[saved:]]
