"""Writing that survives a full disk, a crash and a second run in the same folder."""

from __future__ import annotations

import datetime
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from safetensors import SafetensorError


class FolderInUse(ValueError):
    """Another run, named in the message, is writing to the folder."""


@contextmanager
def replacing(*paths: Path) -> Iterator[list[Path]]:
    """Writes files, each of them atomically.

    All are written next to their targets and synced to disk, and only then renamed, in the order of `paths`. A failure
    before that leaves all old files; if the last file is new, all are. Modes follow the umask.

    Yields:
        The temporary paths.

    Raises:
        OSError: a file cannot be written; the message names it.
    """
    partial = [path.with_name(f"{path.name}.partial") for path in paths]
    try:
        for file in partial:
            file.touch()
        modes = [file.stat().st_mode for file in partial]  # safetensors creates files only their owner can read
        yield partial
        for file, mode in zip(partial, modes, strict=True):
            file.chmod(mode)
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        for file, path in zip(partial, paths, strict=True):
            file.replace(path)
    except (OSError, SafetensorError) as error:
        raise OSError(f"{', '.join(map(str, paths))} cannot be written ({error}).") from error
    finally:
        for file in partial:
            file.unlink(missing_ok=True)


LOOK = 1.0
"""Seconds for which another process may hold the lock to check it."""


@contextmanager
def sole_use_of(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps other runs out of it until the process ends, however it ends.

    Raises:
        FolderInUse: another run has the folder.
        OSError: the folder cannot be made.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".lock"
    lock = FileLock(path, timeout=LOOK, on_acquired=_sign)
    try:
        lock.acquire()
    except Timeout as error:
        raise FolderInUse(f"{folder} is in use by {_signature(path)}. Wait for it, or choose another --out.") from error
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # still locked, so that nobody can lock a file about to be deleted
        lock.release()
        if is_new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def _sign(descriptor: int) -> None:
    began = datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {began}".encode())


def _signature(path: Path) -> str:
    """The text of `_sign`, if written yet."""
    with suppress(OSError, UnicodeDecodeError):
        if text := path.read_text(encoding="utf-8"):
            return f"another run ({text})"
    return "another run"
