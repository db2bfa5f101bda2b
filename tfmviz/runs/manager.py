"""The run queue of a server: starts, pauses, changes, stops and deletes runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from pathlib import Path

from filelock import FileLock, Timeout

from tfmviz.runs import processes
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder, NoSuchRun, State, Wish, abandoned, all_of
from tfmviz.training import log
from tfmviz.training.log import LogError
from tfmviz.training.wishes import want_rate, wanted_rate

AT_ONCE = int(os.environ.get("TFMVIZ_RUNS_AT_ONCE", "2"))
"""Maximum runs in parallel; 0 disables training."""

MOST_WAITING = 60
"""Maximum length of the queue."""

MOST_AT_A_PLACE = 20
"""Maximum runs waiting from one address, such as a class."""

MOST_OF_ONE = 2
"""Maximum waiting runs of one reader."""

KEPT = 24 * 3600
"""Seconds after which an unused run is deleted."""

TRIES = 3
"""Starts without progress after which a run is given up."""

BETWEEN, IDLE = 0.5, 5.0
"""Seconds between two checks of processes, and between two of other servers' leftovers."""

CANNOT_WRITE = "the disk of this server is full or read-only"


class QueueFull(RuntimeError):
    """Too many runs are waiting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStatus:
    """The status of a run.

    Attributes:
        before: runs ahead in the queue.
        rate: the highest learning rate that its owner wants.
        failure: the reason it cannot continue, in a sentence.
    """

    state: State
    choices: Choices
    owner: str
    rate: float
    before: int = 0
    failure: str = ""


class RunManager:
    """The runs in a folder, which several servers may share: all state is in its files.

    Args:
        clock: returns the seconds since 1970.
    """

    def __init__(self, root: Path, *, at_once: int = AT_ONCE, clock: Callable[[], float] = time.time) -> None:
        self.root = root
        self.at_once = at_once
        self._clock = clock
        self._mine: dict[str, subprocess.Popen[bytes]] = {}
        self._hindered: dict[str, str] = {}
        self._lock = threading.RLock()
        self._watch: threading.Thread | None = None

    def submit(self, choices: Choices, texts: dict[str, str], *, owner: str = "", place: str = "") -> str:
        """Queues a run. Returns its address.

        Args:
            owner, place: see `Folder`.

        Raises:
            QueueFull: too many runs are waiting.
            OSError: the folder cannot be written; nothing is left of it.
        """
        with self._lock:
            self._check_queue(owner, place)
            folder = Folder.new(self.root, choices, texts, owner=owner, place=place)
        self.tick()
        return folder.address

    def pause(self, address: str) -> None:
        """Ends the process of a run until `resume`.

        Raises:
            NoSuchRun: there is none of that address.
            OSError: the request cannot be written, though the process is ended.
        """
        self._end(address, "pause")

    def stop(self, address: str) -> None:
        """Ends a run for good; its results stay for a day. Raises as `pause` does."""
        self._end(address, "stop")

    def resume(self, address: str) -> None:
        """Puts a paused or stopped run at the end of the queue.

        Raises:
            NoSuchRun: there is none of that address.
            QueueFull: too many runs are waiting.
            OSError: the request cannot be written; nothing changes.
        """
        folder = Folder.at(self.root, address)
        with self._lock:  # a class may click at the same time
            if self._state(folder) in ("paused", "stopped"):
                self._check_queue(folder.owner, folder.place)
                folder.start(at=0.0, done=0, times=0)
                (folder.path / "errors.txt").unlink(missing_ok=True)
                folder.wish("go")
        self.tick()

    def _check_queue(self, owner: str, place: str) -> None:
        waiting = [folder for folder in all_of(self.root) if self._state(folder) == "queued"]
        here = sum(folder.place == place for folder in waiting)
        for count, most in ((here, MOST_AT_A_PLACE), (len(waiting), MOST_WAITING)):
            if count >= most:
                raise QueueFull(f"{most} runs are waiting already. Try again in a few minutes.")
        if owner and sum(folder.owner == owner for folder in waiting) >= MOST_OF_ONE:
            raise QueueFull(f"{MOST_OF_ONE} of your runs are waiting already. Try again when one of them has begun.")

    def change_rate(self, address: str, rate: float) -> None:
        """Sets the highest learning rate of a run, from its next update on.

        Raises:
            NoSuchRun: there is none of that address.
            ValueError: the rate is out of bounds.
            OSError: it cannot be written.
        """
        folder = Folder.at(self.root, address)
        checked = replace(folder.request[0], learning_rate=rate)
        with self._lock:
            want_rate(folder.model, checked.learning_rate)

    def _end(self, address: str, wish: Wish) -> None:
        folder = Folder.at(self.root, address)
        with self._lock:
            try:
                folder.wish(wish)
            finally:  # a full disk must not keep alive the run that fills it
                self._end_process(folder)
        self.tick()

    def _end_process(self, folder: Folder) -> None:
        """Ends the process of a run on this machine; on another its own server does it."""
        process = self._mine.get(folder.address)
        if process is not None:
            processes.end(process.pid)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
                del self._mine[folder.address]
        elif (pid := folder.holder()) is not None and folder.is_held_here:
            processes.end(pid)

    def see(self, address: str) -> RunStatus:
        """The status of a run. Raises NoSuchRun."""
        folder = Folder.at(self.root, address)
        choices, _ = folder.request
        state = self._state(folder)
        waiting = []
        if state == "queued":
            waiting = [one.address for one in in_turn({one: self._state(one) for one in all_of(self.root)})]
        before = waiting.index(address) if address in waiting else 0
        rate = wanted_rate(folder.model) or choices.learning_rate
        failure = folder.failure or (self._hindered.get(address, "") if state == "queued" else "")
        return RunStatus(state=state, choices=choices, owner=folder.owner, rate=rate, before=before, failure=failure)

    def folder(self, address: str) -> Folder:
        """The folder of a run. Raises NoSuchRun."""
        return Folder.at(self.root, address)

    def watch(self) -> None:
        """Keeps the queue moving from a background thread."""
        with self._lock:
            if self._watch is None or not self._watch.is_alive():
                self._watch = threading.Thread(target=self._keep_watch, daemon=True, name="runs")
                self._watch.start()

    def _keep_watch(self) -> None:
        while True:
            time.sleep(BETWEEN if self.tick() else IDLE)

    def tick(self) -> bool:
        """Updates all runs once. Returns whether one is running or waiting."""
        if not self.root.is_dir():
            return False
        with self._lock:
            try:
                with FileLock(self.root / ".lock", blocking=False):
                    return self._look_after(all_of(self.root))
            except (Timeout, OSError):
                return True  # another server is doing it, or nothing can be written now

    def _look_after(self, folders: list[Folder]) -> bool:
        for folder in folders:
            self._reap(folder)
        for path in abandoned(self.root, before=self._clock() - KEPT):
            shutil.rmtree(path, ignore_errors=True)
        states = {folder: self._state(folder) for folder in folders}
        for folder, state in states.items():
            if state not in ("running", "queued") and self._clock() - folder.used_at > KEPT:
                shutil.rmtree(folder.path, ignore_errors=True)
        running = sum(state == "running" for state in states.values())
        waiting = in_turn(states)
        for folder in waiting[: max(0, self.at_once - running)]:
            self._start(folder)
        return bool(running or (waiting and self.at_once))

    def _start(self, folder: Folder) -> None:
        at, before, times = folder.started
        done = updates_done(folder)
        times = times + 1 if at and done <= before else 1
        if times > TRIES:
            _fail(folder, f"It was started {TRIES} times and got no further than {done:,} updates.")
            return
        self._hindered.pop(folder.address, None)
        try:
            with folder.claimed() as inherited:
                folder.start(at=self._clock(), done=done, times=times)
                self._mine[folder.address] = processes.start(folder, inherited)
        except NoSuchRun as error:
            _fail(folder, f"It could not be started ({type(error).__name__}).")
        except BlockingIOError:  # another process is checking its lock
            pass
        except OSError:  # it starts as soon as it can
            self._hindered[folder.address] = f"It cannot start: {CANNOT_WRITE}."

    def _reap(self, folder: Folder) -> None:
        """Handles a process that has ended: done, failed, or killed, which is restarted.

        Ends one that is no longer wanted.
        """
        process = self._mine.get(folder.address)
        if process.poll() is None if process is not None else folder.is_claimed:
            if folder.wished != "go":
                self._end_process(folder)
            return
        self._mine.pop(folder.address, None)
        sentence = processes.summary_text(folder)
        if process is not None and process.returncode > 0:
            sentence = sentence or "The training command ended with an error."
        if sentence and folder.wished == "go" and not folder.failure:
            _fail(folder, sentence)

    def _state(self, folder: Folder) -> State:
        if folder.failure:
            return "failed"
        process = self._mine.get(folder.address)
        if process is not None and (process.poll() is None or not folder.is_finished):
            return "running"  # or just ended, which the next `tick` notices
        if process is None and folder.is_claimed:
            return "running"
        if folder.is_finished:
            return "finished"
        return {"pause": "paused", "stop": "stopped"}.get(folder.wished, "queued")  # type: ignore[return-value]


def in_turn(states: dict[Folder, State]) -> list[Folder]:
    """The waiting runs in order, given all runs in the order of their requests.

    Places take turns, and within a place its readers: nobody's second run precedes another's first.
    """
    waiting = [folder for folder, state in states.items() if state == "queued"]
    for of in (attrgetter("owner"), attrgetter("place")):
        had = Counter(of(folder) for folder, state in states.items() if state == "running")
        turns = []
        for folder in waiting:
            turns.append(had[of(folder)])
            had[of(folder)] += 1
        waiting = [folder for _, folder in sorted(zip(turns, waiting, strict=True), key=itemgetter(0))]
    return waiting


def _fail(folder: Folder, message: str) -> None:
    """Records why a run cannot continue; on a full disk at the next `tick`."""
    with suppress(OSError):
        folder.fail(message)


def updates_done(folder: Folder) -> int:
    try:
        entries = log.read_log(folder.model / "log.jsonl")
    except (LogError, OSError):
        return 0
    return int(entries[-1]["step"]) + 1 if entries else 0
