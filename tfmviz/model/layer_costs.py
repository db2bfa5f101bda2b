"""Time and memory of one layer of each kind in `analysis.complexity`, measured on this machine.

`python -m tfmviz.model.layer_costs` prints a line of JSON for each measurement; the app runs it as a separate process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from tfmviz.measuring import report

N_FIXED, D_FIXED, KERNEL, NEIGHBOURS = 512, 128, 3, 64
"""The length while the width changes, the width while the length changes, k and r."""

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
WIDTHS = (32, 64, 128, 256, 512, 1024)

SECONDS = 8.0
"""CPU seconds after which no further measurement begins."""

ROUNDS, LEAST = 3, 0.02
"""A measurement is the fastest of at least this many runs that take at least these seconds together."""

Layer = Callable[[Tensor], Tensor]


def stepwise(x: Tensor) -> Tensor:
    """Self-attention of one head, with the pattern stored: (n, d) to (n, d)."""
    pattern = ((x * x.shape[1] ** -0.5) @ x.T).softmax(dim=-1)  # (n, n)
    return pattern @ x


def fused(x: Tensor) -> Tensor:
    """The same, storing one tile of the pattern at a time."""
    heads = x[None, None]  # (batch, head, n, d)
    return F.scaled_dot_product_attention(heads, heads, heads)[0, 0]


def restricted(x: Tensor, neighbours: int = NEIGHBOURS) -> Tensor:
    """Self-attention of each token to `neighbours` keys: its own half-window and the one before.

    Shorter texts get full attention. For measuring only: zeros before the first half-window receive attention.
    """
    n, d = x.shape
    if n <= neighbours:
        return stepwise(x)
    half = neighbours // 2
    q = (x * d**-0.5).unflatten(0, (-1, half))  # (window, half, d)
    keys = F.pad(x, (0, 0, half, 0)).unfold(0, neighbours, half)  # (window, d, neighbours)
    return ((q @ keys).softmax(dim=-1) @ keys.mT).flatten(0, 1)


def layers(d: int, device: str) -> dict[str, Layer]:
    """The layers for vectors of width d, by their names in `analysis.complexity`."""
    recurrent = nn.RNN(d, d, device=device)
    convolution = nn.Conv1d(d, d, KERNEL, padding=KERNEL // 2, device=device)
    return {
        "self-attention": stepwise,
        "fused self-attention": fused,
        "recurrent": lambda x: recurrent(x)[0],
        "convolution": lambda x: convolution(x.T[None])[0].T,
        "restricted attention": restricted,
    }


def places() -> list[tuple[str, int, int]]:
    """The measurements: varied size, n and d; small sizes first, so that an early end costs only large ones."""
    against_n = [("n", n, D_FIXED) for n in LENGTHS]
    against_d = [("d", N_FIXED, d) for d in WIDTHS]
    return sorted(against_n + against_d, key=lambda place: place[1] * place[2] * (place[1] + place[2]))


def devices() -> list[str]:
    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@torch.inference_mode()
def measurements(seconds: float = SECONDS) -> Iterator[dict[str, Any]]:
    """One record for each device, size and layer; `share` is the fraction done."""
    peak_of(fused, torch.zeros(8, 8))  # torch's profiler is slow to start
    deadline = time.process_time() + seconds
    everywhere = [(device, *place) for place in places() for device in devices()]
    for done, (device, against, n, d) in enumerate(everywhere, 1):
        numbers = torch.Generator().manual_seed(0)
        x = torch.randn(n, d, generator=numbers).to(device)
        for name, layer in layers(d, device).items():
            if time.process_time() > deadline:
                return
            what = {"on": device, "name": name, "against": against, "n": n, "d": d, "share": done / len(everywhere)}
            yield what | {"seconds": seconds_of(layer, x), "bytes": peak_of(layer, x)}


def seconds_of(layer: Layer, x: Tensor) -> float:
    """The fastest of a few runs, after a warm-up; on a CPU in time of this process."""
    times: list[float] = []
    clock = _accelerator_clock if x.is_cuda else time.process_time
    layer(x)
    while len(times) < ROUNDS or sum(times) < LEAST:
        begin = clock()
        layer(x)
        times.append(clock() - begin)
    return min(times)


def _accelerator_clock() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def peak_of(layer: Layer, x: Tensor) -> int:
    """The peak of bytes allocated in a run, result included, input and weights not."""
    if x.is_cuda:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        layer(x)
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        layer(x)
    events = [event for event in found.profiler.kineto_results.events() if event.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


def main() -> None:
    torch.set_num_threads(1)
    report(measurements())


if __name__ == "__main__":
    main()
