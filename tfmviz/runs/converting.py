"""A converter that readers with a token may start: one process at a time, found again by its files.

job.json   the request, and the process id
process    locked by the process until it ends, however it ends
said.txt   the output of the command
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

from tfmviz.runs import processes

try:
    import fcntl
except ImportError:  # on Windows, where no process inherits a lock
    fcntl = None  # type: ignore[assignment]

MOST_MB = 20_000
"""Largest weights that a page may convert, in megabytes."""

TRIES = 5
"""Consecutive wrong tokens until all are refused."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
"""The allowed names of a model."""

ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
"""The name of a model on the Hub. It may look like a path, but the command's folder has no folders."""

COUNTED = re.compile(r"(\d+) of (\d+) tensors")

TRACEBACK = "Traceback (most recent call last):"

MOST_FILES = 10_000
"""Maximum entries of a folder that are checked."""

ENVIRONMENT = (
    *("XDG_DATA_HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_OFFLINE", "HF_ENDPOINT", "SSL_CERT_FILE"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "REQUESTS_CA_BUNDLE"),
)

Step = Literal["look", "convert"]
State = Literal["running", "done", "failed", "stopped", "lost"]

AT_THE_END = {
    "stopped": "Stopped. No model was written.",
    "lost": "It ended without a word: it was killed, or this machine went off. No model was written.",
}
"""The message of a command that ended without one."""


class NotPossible(ValueError):
    """A refused request; the message is the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """The last request.

    Attributes:
        given: a subfolder of `Converting.folder`, or a name on the Hub.
        name: the model's name in the app.
        state: "stopped": by a reader; "lost": it was killed.
        share: fraction written.
        says: the command's output without progress counts.
    """

    step: Step
    given: str
    name: str
    state: State
    share: float
    says: str


class Converting:
    """The converter of a server that was started with `--convert`.

    Args:
        folder: its subfolders may be converted.
        place: the folder of the converted models.
        tell: shows a token in the terminal.
        command: Python's arguments before those of the converter.
    """

    def __init__(
        self,
        folder: Path,
        place: Path,
        *,
        tell: Callable[[str], None] = print,
        command: Sequence[str] = ("-m", "tfmviz.huggingface"),
    ) -> None:
        self.folder = folder.resolve()
        self.place = place
        self._files = place / ".desk"
        self._tell = tell
        self._command = command
        self._wrong = 0
        self._lock = threading.RLock()
        self._mine: subprocess.Popen[bytes] | None = None
        self._new_token()

    def _new_token(self) -> None:
        self._token = secrets.token_hex(6)
        self._tell(f"To convert a model, choose Your own model … in the menu of models and type: {self._token}")

    @property
    def is_closed(self) -> bool:
        """True after too many wrong tokens."""
        return self._wrong >= TRIES

    def admits(self, typed: str) -> bool:
        """True for the right token, which works once."""
        with self._lock:
            if self.is_closed:
                return False
            if not hmac.compare_digest(typed.strip().encode("utf-8", "replace"), self._token.encode()):
                self._wrong += 1
                return False
            self._wrong = 0
            self._new_token()
            return True

    def sources(self) -> list[str]:
        """The subfolders with a checkpoint, by name."""
        with suppress(OSError):
            names = sorted(path.name for path in self.folder.iterdir() if (path / "config.json").is_file())
            return [name for name in names if self._is_inside(self.folder / name)]
        return []

    def own(self) -> list[str]:
        """The models that can be removed, by name."""
        with suppress(OSError):
            return sorted(path.name for path in self.place.iterdir() if NAME.fullmatch(path.name) and path.is_dir())
        return []

    def _is_inside(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.folder)

    def _checked(self, given: str) -> str:
        """The command's argument for a source: a path of ours, or a name on the Hub. Raises NotPossible."""
        if given in self.sources():
            path = self.folder / given
            for n, entry in enumerate(path.rglob("*")):
                if n >= MOST_FILES:
                    raise NotPossible(f"The folder holds more than {MOST_FILES:,} files.")
                if not self._is_inside(entry):
                    raise NotPossible(f"{entry.name} leads out of the folder, so nothing of it is read.")
            return str(path.resolve())
        if not ON_HUB.fullmatch(given) or ".." in given:
            raise NotPossible("This is neither a folder here nor the name of a model on the Hub.")
        return given

    def start(self, step: Step, given: str, name: str) -> None:
        """Starts a process that inspects a model ("look") or converts it.

        Raises:
            NotPossible: another one is running; the source or the name is invalid.
            OSError: the disk is full or read-only, or the system refuses.
        """
        source = self._checked(given)
        if not NAME.fullmatch(name):
            raise NotPossible("Call the model by letters, digits, dots and hyphens.")
        words = [*self._command, f"--name={name}", f"--most={MOST_MB}", "--count"]
        words += [*(["--look"] if step == "look" else []), "--", source]
        extra = {"TFMVIZ_MODELS": str(self.place.resolve()), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        with self._lock:
            self._files.mkdir(parents=True, exist_ok=True)
            with (self._files / "process").open("a") as lock, (self._files / "said.txt").open("ab") as output:
                try:
                    if fcntl:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    elif self.is_running:
                        raise BlockingIOError
                except BlockingIOError:
                    raise NotPossible("Another model is being converted. Try again when it has ended.") from None
                output.truncate(0)
                self._write({"step": step, "given": given, "name": name})
                self._mine = processes.spawn(
                    words,
                    self._files,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    inherited=(lock.fileno(),) if fcntl else (),
                    names=ENVIRONMENT,
                    extra=extra,
                )
                self._write({"step": step, "given": given, "name": name, "pid": self._mine.pid})

    def stop(self) -> None:
        """Ends the process."""
        with self._lock:
            found = self._read()
            if self.is_running and isinstance(pid := found.get("pid"), int):
                with suppress(OSError):  # a full disk must not keep alive the process that fills it
                    self._write(found | {"is_stopped": True})
                processes.end(pid)

    @property
    def is_running(self) -> bool:
        """True while a process runs, whichever server started it."""
        if self._mine is not None and self._mine.poll() is None:
            return True
        if not fcntl:
            return False
        try:
            with (self._files / "process").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def job(self) -> Job | None:
        running, found = self.is_running, self._read()
        step: Step = "look" if found.get("step") == "look" else "convert"
        if not found:
            return None
        with suppress(OSError):
            lines = (self._files / "said.txt").read_text(encoding="utf-8", errors="replace").splitlines()
            counts = [match for line in lines if (match := COUNTED.fullmatch(line))]
            messages = [line for line in lines if line.strip() and not COUNTED.fullmatch(line)]
            if TRACEBACK in messages:  # it was killed before it could report
                messages = messages[: messages.index(TRACEBACK)]
            share = int(counts[-1][1]) / max(1, int(counts[-1][2])) if counts else 0.0
            state: State = "running" if running else _ended(step, messages, "is_stopped" in found)
            messages += [AT_THE_END[state]] if state in AT_THE_END else []
            return Job(
                step=step,
                given=str(found.get("given", "")),
                name=str(found.get("name", "")),
                state=state,
                share=min(1.0, share),
                says="\n".join(messages)[-3000:].replace(str(self.folder), "…").replace(str(Path.home()), "~"),
            )
        return None

    def forget(self) -> None:
        """Hides the last request. Raises OSError."""
        with self._lock:
            if not self.is_running:
                (self._files / "job.json").unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Removes a model. Raises NotPossible, OSError."""
        with self._lock:
            if name not in self.own():
                raise NotPossible("There is no such model.")
            if (self.place / name).is_symlink():
                (self.place / name).unlink()
                return
            gone = self.place / f".gone-{uuid4().hex}"
            (self.place / name).rename(gone)  # atomic: nobody may load half of it
            shutil.rmtree(gone, ignore_errors=True)

    def _read(self) -> dict[str, object]:
        with suppress(OSError, ValueError):
            found = json.loads((self._files / "job.json").read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        return {}

    def _write(self, values: dict[str, object]) -> None:
        (self._files / "job.new").write_text(json.dumps(values), encoding="utf-8")
        (self._files / "job.new").replace(self._files / "job.json")


def _ended(step: Step, messages: list[str], is_stopped: bool) -> State:
    last = messages[-1] if messages else ""
    if last.startswith("Cannot convert"):
        return "failed"
    if last.startswith("Done: ") or (step == "look" and last.endswith(" MB.")):
        return "done"
    return "stopped" if is_stopped else "lost"
