"""Times of several ways to do something, measured in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

WARM_UP = 2
"""Rounds that do not count."""


@torch.inference_mode()
def interleaved(
    runs: dict[str, Callable[[], object]], *, rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each. Every round runs each once, so a slow moment of the machine hits all equally."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(WARM_UP + rounds):
        for name, run in runs.items():
            begin = clock()
            run()
            if turn >= WARM_UP:
                times[name].append(clock() - begin)
    return {name: statistics.median(spent) for name, spent in times.items()}
