"""The training command as a separate process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from tfmviz.runs.folder import Folder

PACKAGE = Path(__file__).parents[2]
"""The folder from which Python imports `tfmviz`."""

INHERITED = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "HOME")
"""The environment variables that a run inherits: nothing secret."""

NICER = 10
"""Added to the niceness of a run's process, so that the pages come first."""


def start(folder: Folder, inherited: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Starts or continues a run: one thread, low priority, in the run's folder.

    Args:
        inherited: open files that the process keeps; see `Folder.claimed`.

    Raises:
        OSError: the system refuses.
    """
    choices, data = folder.request
    words = ["-m", "tfmviz.training", *choices.command(data)]
    with (folder.path / "errors.txt").open("wb") as errors:
        return spawn(words, folder.path, stdout=subprocess.DEVNULL, stderr=errors, inherited=inherited)


def spawn(
    words: Sequence[str],
    folder: Path,
    *,
    stdout: IO[bytes] | int,
    stderr: IO[bytes] | int,
    inherited: tuple[int, ...] = (),
    names: Sequence[str] = (),
    extra: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts Python with these arguments in a folder.

    Args:
        names: environment variables passed on besides `INHERITED`.
        extra: more variables with their values.
    """
    environment = {name: os.environ[name] for name in (*INHERITED, *names) if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-P", *words],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"} | dict(extra or {}),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        pass_fds=inherited,
        start_new_session=True,  # it outlives the server
    )
    with suppress(OSError, AttributeError):  # Windows has no such call
        os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + NICER)
    return process


def end(pid: int) -> None:
    """Ends a process, if it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)


def summary_text(folder: Folder) -> str:
    """The command's error message without local paths, or ""."""
    with suppress(OSError):
        lines = (folder.path / "errors.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if lines and lines[-1].startswith("Cannot train: "):
            return lines[-1].replace(str(folder.path), "").removeprefix("Cannot train: ")[:300]
    return ""
