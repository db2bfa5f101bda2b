"""Measurements in separate processes: no reader waits for one, and nothing that the server does affects them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.record.trace import Array
from tfmviz.ui import icons, side

LONGEST = 300.0
"""Seconds after which a process is killed. It ends itself earlier, but takes long to start on a busy machine."""

EVERY = 0.5
"""Seconds between two looks at a measurement."""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Other readers need the other processors."""

Found = dict[str, Any]
"""One line of a measurement's output; `share` is the part of the work done by then."""


_CHANGED = threading.Lock()
_RUNNING: dict[str, Measurement] = {}


class Measurement:
    """Lines of JSON printed by `python -m module`; only one process per module runs at a time."""

    def __init__(self, module: str, *args: str) -> None:
        self._module, self._args = module, args
        self._lines: list[Found] = []
        self._process: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self.has_failed = False

    def begin(self) -> None:
        """Does nothing while a process of this module runs; discards earlier results."""
        with _CHANGED:
            if self._module in _RUNNING:
                return
            _RUNNING[self._module] = self
            self._lines, self.has_failed = [], False
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, *self._args],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | ONE_THREAD | {"PYTHONPATH": str(Path(__file__).parents[2])},
                text=True,
            )
            self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
            self._listener.start()

    def wait(self) -> None:
        if (listener := self._listener) is not None:
            listener.join()

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def must_wait(self) -> bool:
        return _RUNNING.get(self._module) not in (None, self)

    @property
    def found(self) -> tuple[Found, ...]:
        return tuple(self._lines)

    @property
    def share(self) -> float:
        """The part of the work that is done, 0 to 1."""
        return float(self._lines[-1]["share"]) if self._lines else 0.0

    def _listen(self, process: subprocess.Popen[str]) -> None:
        alarm = threading.Timer(LONGEST, process.kill)
        alarm.start()
        assert process.stdout is not None
        for line in process.stdout:
            with suppress(ValueError):  # the last may be cut off; a library may have printed a warning
                self._lines.append(json.loads(line))
        process.wait()
        alarm.cancel()
        with _CHANGED:
            del _RUNNING[self._module]
            self._process = None
            self.has_failed = not self._lines or process.returncode != 0


@st.cache_resource(show_spinner=False)
def measurement(module: str, *args: str) -> Measurement:
    """One per server and name."""
    return Measurement(module, *args)


def by_name(found: Iterable[Found], name: str, x: str, y: str) -> dict[str, tuple[Array, Array]]:
    points: dict[str, list[tuple[float, float]]] = {}
    for record in found:
        points.setdefault(record[name], []).append((record[x], record[y]))
    return {one: (np.array(at, float)[:, 0], np.array(at, float)[:, 1]) for one, at in points.items()}


def measured(module: str, draw: Callable[[tuple[Found, ...]], None], *args: str, words: str) -> None:
    """Draws what has been measured, and a button, labelled `words`, that measures it; in a comparison once, on A.

    Args:
        draw: gets the lines measured so far, possibly none.
    """
    if side.is_b():
        st.caption(side.SAME)
        return
    job = measurement(module, *args)
    running = job.is_running or job.must_wait

    @st.fragment(run_every=EVERY if running else None)
    def part() -> None:
        found, runs, waits = job.found, job.is_running, job.must_wait
        with side.during(None):
            draw(found)
        if runs:
            st.progress(job.share, "Measuring on this server …")
        elif waits:
            st.progress(0.0, "Another reader's run comes first …")
        elif running:
            st.rerun()
        if job.has_failed and not runs:
            st.warning("This did not end: the server is too busy now. Try again.", icon=icons.WARNING)
        name = f"measure_{module.rpartition('.')[2]}"
        if not runs and not waits and st.button("Once more" if found else words, key=name):
            job.begin()
            st.rerun()

    part()
