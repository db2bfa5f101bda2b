"""The running time of each method on this machine, without a mask: `python -m tfmviz.analysis.efficient.timing`.

Prints a line of JSON for each measurement. All methods are in numpy, so their times do not compare with optimised
kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfmviz.analysis.efficient import exact, features, linformer, reformer, sparse, tiles
from tfmviz.measuring import report
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature

D = 64

LENGTHS = (128, 256, 512, 1024, 2048, 4096)

RADIUS, ROWS, FEATURES, SIZE, BUCKET = 32, 64, 128, 64, 64
"""Of the window, of Linformer, of Performer, of a tile, and tokens per bucket of Reformer."""

SECONDS = 8.0
"""CPU seconds after which no further measurement begins."""

ROUNDS = 3

Method = Callable[[Array, Array, Array], Array]


def _buckets(n: int) -> int:
    return max(2, n // BUCKET)


def _performer(q: Array, k: Array, v: Array) -> Array:
    directions = features.random_directions(FEATURES, q.shape[1], 0).astype(q.dtype)
    return features.attend(*features.performer(q, k, directions), v)


METHODS: dict[str, Method] = {
    "exact": exact.attend,
    f"window, radius {RADIUS}": lambda q, k, v: sparse.attend(q, k, v, RADIUS),
    f"Linformer, {ROWS} rows": lambda q, k, v: linformer.attend(q, k, v, ROWS),
    f"Reformer, n / {BUCKET} buckets": lambda q, k, v: reformer.attend(q, k, v, _buckets(len(q))),
    "linear attention": lambda q, k, v: features.attend(feature(q), feature(k), v),
    f"Performer, {FEATURES} features": _performer,
    f"tiles of {SIZE}": lambda q, k, v: tiles.attend(q, k, v, SIZE),
}


def counted(name: str, n: int) -> int:
    """Multiplications at length n; Reformer's with equally full buckets."""
    return {
        "exact": exact.cost(n, n, D),
        f"window, radius {RADIUS}": sparse.cost(n * (2 * RADIUS + 1), D),
        f"Linformer, {ROWS} rows": linformer.cost(n, n, D, ROWS),
        f"Reformer, n / {BUCKET} buckets": reformer.cost(n * n // _buckets(n), 2 * n, D, _buckets(n)),
        "linear attention": features.cost(n, n, D, D, drawn=False),
        f"Performer, {FEATURES} features": features.cost(n, n, D, FEATURES, drawn=True),
        f"tiles of {SIZE}": tiles.cost(n, n, D, SIZE),
    }[name].multiplications


def measurements(seconds: float = SECONDS) -> Iterator[dict[str, Any]]:
    """One record for each length and method: the fastest CPU time of a few runs on random vectors."""
    deadline = time.process_time() + seconds
    for done, n in enumerate(LENGTHS, 1):
        q, k, v = np.random.default_rng(0).standard_normal((3, n, D)).astype(np.float32)
        for name, method in METHODS.items():
            if time.process_time() > deadline:
                return
            times = []
            for _ in range(ROUNDS):
                begin = time.process_time()
                method(q / np.float32(np.sqrt(D)), k, v)
                times.append(time.process_time() - begin)
            yield {"name": name, "n": n, "seconds": min(times), "share": done / len(LENGTHS)}


if __name__ == "__main__":
    report(measurements())
