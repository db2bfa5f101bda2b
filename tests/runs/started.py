"""Processes of runs that only wait, what a test does to them, and a disk without room."""

import errno
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tfmviz.runs import processes
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder
from tfmviz.runs.manager import RunManager


@contextmanager
def full(*, overwriting: bool = True) -> Iterator[None]:
    """Inside, no file can be made or made longer.

    Args:
        overwriting: whether there is room for other bytes in the place of old ones. Some file systems never write
            there, and a read-only one writes nowhere.
    """
    refused = set("wxa") if overwriting else set("wxa+")
    opened = io.open

    def refuse(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & refused and not isinstance(file, int):  # a number is a pipe
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        return opened(file, mode, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", refuse)
        yield


ROOT = Path(__file__).parents[2]

WAITS = "import sys; sys.stdin.read()"
"""A process that ends when its input does."""

HOLDS = f"""
from pathlib import Path
from tfmviz.training.files import sole_use_of
with sole_use_of(Path("model")):
    print("held", flush=True)
    {WAITS}
"""
"""The same, and it holds the folder as the training command does."""


class Started(list[tuple[str, "subprocess.Popen[bytes]"]]):
    """The processes that were started, each with the address of its run."""

    program = WAITS

    def start(self, folder: Folder, inherited: tuple[int, ...]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", self.program],
            cwd=folder.path,
            pass_fds=inherited,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.append((folder.address, process))
        return process

    def hold(self, root: Path, **choices: Any) -> tuple[str, subprocess.Popen[bytes]]:
        """A run whose process has signed its folder: its address, and the process."""
        self.program = HOLDS
        address = RunManager(root, at_once=1).submit(Choices(**choices), {})
        process = self[-1][1]
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        return address, process

    @property
    def addresses(self) -> list[str]:
        return [address for address, _ in self]


@contextmanager
def waiting(patch: pytest.MonkeyPatch) -> Iterator[Started]:
    """Inside, runs are started as processes that only wait; they end with the block."""
    found = Started()
    patch.setattr(processes, "start", found.start)
    yield found
    for _, process in found:
        process.kill()
        process.communicate()


def end(process: subprocess.Popen[bytes]) -> None:
    """Lets a process end by itself."""
    process.communicate()


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def finish(root: Path, address: str) -> None:
    """Writes what the command writes at the very end."""
    model = root / address / "model"
    model.mkdir(exist_ok=True)
    (model / "CARD.md").write_text("# model\n", encoding="utf-8")


def log_updates(root: Path, address: str, n: int) -> None:
    model = root / address / "model"
    model.mkdir(exist_ok=True)
    (model / "log.jsonl").write_text("".join(f'{{"step": {i}, "loss": 1.0}}\n' for i in range(n)), encoding="utf-8")
