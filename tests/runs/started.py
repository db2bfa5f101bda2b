"""Processes of runs that only wait, and what a test does to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tfmviz.runs.folder import Folder

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

    @property
    def addresses(self) -> list[str]:
        return [address for address, _ in self]


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
