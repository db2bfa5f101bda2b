"""All runs of a server: they are started, queued, paused, changed, stopped and cleared away here."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from tfmviz.runs import processes
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder, NoSuchRun, State, all_of
from tfmviz.training import log
from tfmviz.training.log import LogError
from tfmviz.training.wishes import want_rate, wanted_rate

AT_ONCE = int(os.environ.get("TFMVIZ_RUNS_AT_ONCE", "2"))
"""How many runs a server has at once; 0 forbids training."""

MOST_WAITING = 20
"""A longer queue is refused."""

KEPT = 24 * 3600
"""Seconds after which a run that nobody has touched is cleared away."""

TRIES = 3
"""A run that ends again and again without a further step is given up after so many times."""

BETWEEN = 0.5
"""Seconds between two looks at the processes."""


class QueueFull(RuntimeError):
    """Too many runs are waiting already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """What is known of a run at one moment.

    Attributes:
        before: how many runs wait in front of it; 0 if it does not wait.
        rate: the highest learning rate that its readers want now.
        failure: why it cannot go on, in a sentence.
    """

    state: State
    choices: Choices
    rate: float
    before: int = 0
    failure: str = ""


class Desk:
    """The runs below a folder. Several servers may share one: what is true of a run stands in its files.

    Args:
        root: the folder of all runs.
        clock: gives the seconds since 1970.
    """

    def __init__(self, root: Path, *, at_once: int = AT_ONCE, clock: Callable[[], float] = time.time) -> None:
        self.root = root
        self.at_once = at_once
        self._clock = clock
        self._mine: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()
        self._watch: threading.Thread | None = None

    def submit(self, choices: Choices, texts: dict[str, str]) -> str:
        """Asks for a run. Returns its address.

        Raises:
            QueueFull: too many runs are waiting.
            OSError: the folder cannot be written.
        """
        with self._lock:
            if sum(self._state(folder) == "queued" for folder in all_of(self.root)) >= MOST_WAITING:
                raise QueueFull(f"{MOST_WAITING} runs are waiting already. Try again in a few minutes.")
            folder = Folder.new(self.root, choices, texts)
        self.tick()
        return folder.address

    def pause(self, address: str) -> None:
        """Ends the process of a run; `resume` continues it from its last checkpoint."""
        self._end(address, "pause")

    def stop(self, address: str) -> None:
        """Ends a run for good; what it has learned so far stays for a day."""
        self._end(address, "stop")

    def resume(self, address: str) -> None:
        """Puts a paused or stopped run at the end of the queue."""
        folder = Folder.at(self.root, address)
        with self._lock:  # a class may click all at once
            folder.wish("go")
            folder.start(at=0.0, done=0, times=0)
        self.tick()

    def change_rate(self, address: str, rate: float) -> None:
        """Makes this the highest learning rate of a run, from its next update on, or from when it goes on.

        Raises:
            NoSuchRun: there is none of that address.
            ValueError: no run may have this rate.
            OSError: it cannot be written.
        """
        folder = Folder.at(self.root, address)
        checked = replace(folder.request[0], learning_rate=rate)
        with self._lock:
            want_rate(folder.model, checked.learning_rate)

    def _end(self, address: str, wish: str) -> None:
        folder = Folder.at(self.root, address)
        with self._lock:
            folder.wish("pause" if wish == "pause" else "stop")
            process = self._mine.get(address)
            if process is not None:
                processes.end(process.pid)
                process.wait(timeout=30)
                del self._mine[address]
            elif (pid := folder.holder()) is not None and folder.is_held_here:
                processes.end(pid)  # on another machine, its own server does: see `_reap`
        self.tick()

    def see(self, address: str) -> Sight:
        """What is known of a run.

        Raises:
            NoSuchRun: there is none of that address.
        """
        folder = Folder.at(self.root, address)
        choices, _ = folder.request
        state = self._state(folder)
        waiting = (
            [one.address for one in all_of(self.root) if self._state(one) == "queued"] if state == "queued" else []
        )
        before = waiting.index(address) if address in waiting else 0
        rate = wanted_rate(folder.model) or choices.learning_rate
        return Sight(state=state, choices=choices, rate=rate, before=before, failure=folder.failure or "")

    def folder(self, address: str) -> Folder:
        """The folder of a run. Raises: NoSuchRun."""
        return Folder.at(self.root, address)

    def watch(self) -> None:
        """Sees in a thread that runs follow one another, until none is left. Readers come and go meanwhile."""
        with self._lock:
            if self._watch is None or not self._watch.is_alive():
                self._watch = threading.Thread(target=self._keep_watch, daemon=True, name="runs")
                self._watch.start()

    def _keep_watch(self) -> None:
        while self.tick():
            time.sleep(BETWEEN)

    def tick(self) -> bool:
        """Looks after all runs once. Returns whether one is running or waiting."""
        if not self.root.is_dir():
            return False
        with self._lock:
            try:
                with FileLock(self.root / ".lock", blocking=False):
                    return self._look_after(all_of(self.root))
            except Timeout:
                return True  # another server is at it

    def _look_after(self, folders: list[Folder]) -> bool:
        for folder in folders:
            self._reap(folder)
        states = {folder: self._state(folder) for folder in folders}
        for folder, state in states.items():
            if state not in ("running", "queued") and self._clock() - folder.used_at > KEPT:
                shutil.rmtree(folder.path, ignore_errors=True)
        running = sum(state == "running" for state in states.values())
        waiting = [folder for folder, state in states.items() if state == "queued"]
        for folder in waiting[: max(0, self.at_once - running)]:
            self._start(folder)
        return bool(running or (waiting and self.at_once))

    def _start(self, folder: Folder) -> None:
        at, before, times = folder.started
        done = updates_done(folder)
        times = times + 1 if at and done <= before else 1
        if times > TRIES:
            folder.fail(f"It was started {TRIES} times and got no further than {done:,} updates.")
            return
        try:
            folder.start(at=self._clock(), done=done, times=times)
            self._mine[folder.address] = processes.start(folder)
        except (OSError, NoSuchRun) as error:
            folder.fail(f"It could not be started ({type(error).__name__}).")

    def _reap(self, folder: Folder) -> None:
        """Takes note of a process that has ended by itself: done, failed, or killed, and then it starts again.

        One that is no longer wanted is ended: another server cannot, while it starts and has not signed its folder yet.
        """
        process = self._mine.get(folder.address)
        if process is None:
            return
        if process.poll() is None:
            if folder.wished != "go":
                processes.end(process.pid)
            return
        del self._mine[folder.address]
        if process.returncode > 0 and folder.wished == "go" and not folder.is_finished:
            folder.fail(processes.said(folder))

    def _state(self, folder: Folder) -> State:
        if folder.failure:
            return "failed"
        process = self._mine.get(folder.address)
        if process is not None and (process.poll() is None or not folder.is_finished):
            return "running"  # or just ended, which the next look takes note of
        if process is None and folder.holder() is not None:
            return "running"
        if folder.is_finished:
            return "finished"
        return {"pause": "paused", "stop": "stopped"}.get(folder.wished, "queued")  # type: ignore[return-value]


def updates_done(folder: Folder) -> int:
    """The number of updates in the log."""
    try:
        entries = log.read(folder.model / "log.jsonl")
    except (LogError, OSError):
        return 0
    return int(entries[-1]["step"]) + 1 if entries else 0
