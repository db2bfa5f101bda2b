"""What an answer costs, alone: processor time, and memory at its peak."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tfmviz import memory
from tfmviz.ui import cache
from tfmviz.ui.run_queue import TOO_MUCH

SECONDS, MEGABYTES = 3.0, 200.0
"""The budget of an answer: seconds of processors, of all threads together, and memory."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one answer, when nothing is in the cache but loaded models."""

    seconds: float
    megabytes: float

    @property
    def is_too_much(self) -> bool:
        return self.seconds > SECONDS or self.megabytes > MEGABYTES


def cost_of(run: Callable[[], AppTest]) -> Cost:
    """Forgets all results, asks for one answer, and looks at the clock of this process and at its memory's peak.

    An answer with an exception, or one that the fuse has ended, fails the test.
    """
    cache.clear()
    give_back()
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here; see proc(5)
    before, began = resident("VmRSS"), time.process_time()
    app = run()
    cost = Cost(time.process_time() - began, resident("VmHWM") - before)
    assert not app.exception, app.exception[0].message
    assert TOO_MUCH not in [error.value for error in app.error]
    return cost


def give_back() -> None:
    """Gives the system all memory that nobody uses: what an answer takes of it is seen only then."""
    gc.collect()
    memory.give_back()


def resident(line: str = "VmRSS", process: int | str = "self") -> float:
    """Megabytes of a process: now ("VmRSS"), or the most since the peak was forgotten ("VmHWM")."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(text.split()[1]) for text in status.splitlines() if text.startswith(line)) / 1024
