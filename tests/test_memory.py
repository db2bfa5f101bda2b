"""What the allocator keeps between results comes back to the system when it is asked for."""

import platform
import subprocess
import sys
from threading import Event

import pytest

from tfmviz import __main__ as command
from tfmviz.ui import models
from tfmviz.ui.training import desk

MEGABYTES = """
import numpy as np
from tfmviz import memory

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) // 1024

memory.keep_memory()
before, large, last = resident(), np.ones(2**24), np.ones(2**10)  # 128 MB, and something behind them that stays
del large
kept = resident()
memory.give_back()
print(kept - before, resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep memory")
def test_memory_that_is_kept_between_results_can_be_given_back() -> None:
    run = subprocess.run([sys.executable, "-c", MEGABYTES], capture_output=True, text=True, check=True)
    kept, left = map(int, run.stdout.split())
    assert kept >= 100  # most of them, whatever else the process gave back meanwhile
    assert left < 8


def test_a_server_gives_back_again_and_again_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stopping, times = Event(), list[int]()

    def give_back() -> None:
        times.append(1)
        if len(times) == 3:
            stopping.set()

    for place, name in ((models, "import_torch"), (desk, "run_manager")):
        monkeypatch.setattr(place, name, lambda: None)
    for name, seconds in (("PICTURE", 0), ("TIDY", 0)):
        monkeypatch.setattr(command, name, seconds)
    monkeypatch.setattr(command, "give_back", give_back)
    command._prepare(stopping)
    assert len(times) == 3
