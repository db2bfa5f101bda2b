"""The folder of a run: its whole state, so that it survives a server that is killed.

request.json    the request, and its owner
data.txt …      the text of a language model
wanted          the owner's wish: go, pause or stop; the file's time is its position in the queue
started.json    the last start of its process, the updates done by then, and the number of starts
failed          the reason it cannot continue
errors.txt      the command's error output
process         locked by its process until it ends
model/          written by the command: log, checkpoint, snapshots and the finished model; the app writes only
                model/rate, the highest learning rate wanted (see `training.wishes`)
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from tfmviz.runs.choices import Choices
from tfmviz.training.files import replacing

try:
    import fcntl
except ImportError:  # on Windows, where no process inherits a lock
    fcntl = None  # type: ignore[assignment]

Wish = Literal["go", "pause", "stop"]
State = Literal["queued", "running", "paused", "stopped", "finished", "failed"]

ADDRESS = re.compile(r"[0-9a-f]{16}")
"""The address of a run: sixteen random digits, nothing that could be a path."""


class NoSuchRun(LookupError):
    """There is no run of that address."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A run.

    Attributes:
        path: named after the run's address.
    """

    path: Path

    @classmethod
    def at(cls, root: Path, address: str) -> Folder:
        """The run of an address.

        Raises:
            NoSuchRun: the address is malformed, or the run is gone.
        """
        if not ADDRESS.fullmatch(address) or not (root / address / "request.json").is_file():
            raise NoSuchRun(address)
        return cls(root / address)

    @classmethod
    def new(cls, root: Path, choices: Choices, texts: dict[str, str], *, owner: str = "", place: str = "") -> Folder:
        """Writes a request, which other servers see once it is complete.

        Args:
            texts: by file names of ours.

        Raises:
            OSError: there is no room; nothing is left.
        """
        address = secrets.token_hex(8)
        folder = cls(root / f".{address}")
        try:
            folder.path.mkdir(parents=True)
            for name, text in texts.items():
                (folder.path / name).write_text(text, encoding="utf-8", errors="replace")
            request = {"choices": choices.to_dict(), "data": list(texts), "owner": owner, "place": place}
            folder.wish("go")
            folder._write("request.json", json.dumps(request))
            return cls(folder.path.rename(root / address))
        except OSError:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise

    @property
    def address(self) -> str:
        return self.path.name

    @property
    def model(self) -> Path:
        return self.path / "model"

    @property
    def request(self) -> tuple[Choices, tuple[str, ...]]:
        """The choices, and the names of the text files.

        Raises:
            NoSuchRun: the file is damaged or gone.
        """
        try:
            found = json.loads((self.path / "request.json").read_text(encoding="utf-8"))
            return Choices.from_dict(found["choices"]), tuple(map(str, found["data"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoSuchRun(self.address) from error

    @property
    def owner(self) -> str:
        """The reader who may control it; empty: nobody."""
        return self._requested("owner")

    @property
    def place(self) -> str:
        """The owner's network address, which a class may share."""
        return self._requested("place")

    def _requested(self, name: str) -> str:
        with suppress(ValueError, KeyError, TypeError):
            return str(json.loads(self._read("request.json"))[name])
        return ""

    @property
    def wished(self) -> Wish:
        text = self._read("wanted").strip()
        return "pause" if text == "pause" else "stop" if text == "stop" else "go"

    def wish(self, wish: Wish) -> None:
        """Overwrites the wish in place: a full disk has no room for more."""
        (self.path / "wanted").touch()
        with (self.path / "wanted").open("rb+") as file:
            file.write(f"{wish:<5}".encode())
            file.flush()
            os.fsync(file.fileno())
        now = time.time_ns()
        os.utime(self.path / "wanted", ns=(now, now))  # the file system's clock may give two wishes the same time

    @property
    def asked_at(self) -> float:
        """The time of the last wish, which orders the queue."""
        with suppress(OSError):
            return (self.path / "wanted").stat().st_mtime
        return 0.0

    @property
    def used_at(self) -> float:
        """The time of the last change, in seconds since 1970."""
        times = [0.0]
        for path in (self.path / "wanted", self.model / "log.jsonl", self.model / "CARD.md"):
            with suppress(OSError):
                times.append(path.stat().st_mtime)
        return max(times)

    @property
    def failure(self) -> str | None:
        return self._read("failed") or None

    def fail(self, message: str) -> None:
        self._write("failed", message)

    @property
    def is_finished(self) -> bool:
        return (self.model / "CARD.md").is_file()

    @property
    def started(self) -> tuple[float, int, int]:
        """Time of the last start, updates done by then, and number of starts."""
        with suppress(ValueError, KeyError, TypeError):
            found = json.loads(self._read("started.json"))
            return float(found["at"]), int(found["done"]), int(found["times"])
        return 0.0, 0, 0

    def start(self, *, at: float, done: int, times: int) -> None:
        self._write("started.json", json.dumps({"at": at, "done": done, "times": times}))

    @contextmanager
    def claimed(self) -> Iterator[tuple[int, ...]]:
        """Claims the run for the process started inside, until that has ended.

        Yields:
            The open files that the process has to inherit; the lock ends with them.

        Raises:
            OSError: the run is claimed already, or there is no room.
        """
        with (self.path / "process").open("a") as file:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield (file.fileno(),) if fcntl else ()

    @property
    def is_claimed(self) -> bool:
        """True while its process runs, whichever server started it."""
        try:
            with (self.path / "process").open("rb") as file:
                if fcntl:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # many may look at once
        except BlockingIOError:
            return True
        except OSError:
            pass
        return self.holder() is not None

    def holder(self) -> int | None:
        """Process id of the command that holds the folder, whichever server started it."""
        path = self.model / ".lock"
        if not path.exists():
            return None
        try:
            with FileLock(path, blocking=False):
                return None
        except Timeout:
            found = re.match(r"process (\d+) on ", self._read("model/.lock"))
            return int(found[1]) if found else None
        except OSError:  # it has just ended
            return None

    @property
    def is_held_here(self) -> bool:
        """True if that command runs on this machine."""
        return f" on {socket.gethostname()}, since " in self._read("model/.lock")

    def _read(self, name: str) -> str:
        with suppress(OSError, UnicodeDecodeError):
            return (self.path / name).read_text(encoding="utf-8")
        return ""

    def _write(self, name: str, text: str) -> None:
        with replacing(self.path / name) as (place,):
            place.write_text(text, encoding="utf-8")


def all_of(root: Path) -> list[Folder]:
    if not root.is_dir():
        return []
    there = [Folder(path) for path in root.iterdir() if ADDRESS.fullmatch(path.name)]
    return sorted(there, key=lambda folder: (folder.asked_at, folder.address))


def abandoned(root: Path, *, before: float) -> list[Path]:
    """Folders begun before this time, in seconds since 1970, but never finished."""
    there = [path for path in root.glob(".*") if ADDRESS.fullmatch(path.name[1:])]
    return [path for path in there if path.stat().st_mtime < before]
