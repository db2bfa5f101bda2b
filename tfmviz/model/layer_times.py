"""The running time of one whole layer, recurrent, convolution or self-attention, by the length of the text.

`python -m tfmviz.model.layer_times` prints a line of JSON for each measurement; the app runs it as a separate process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz.measuring import report
from tfmviz.model.recurrent import RecurrentLayer

WIDTH, N_HEADS, KERNEL = 128, 4, 3

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)

ROUNDS = 5
"""A measurement is the fastest of this many runs."""

SECONDS = 4.0
"""CPU seconds after which no further measurement begins."""


class Convolution(nn.Module):
    """Each token sees itself and the `KERNEL` - 1 before it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(WIDTH, WIDTH, KERNEL)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(F.pad(x.mT, (KERNEL - 1, 0))).mT


class SelfAttention(nn.Module):
    """Causal self-attention with all its projections."""

    def __init__(self) -> None:
        super().__init__()
        self.W_QKV, self.W_O = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.W_QKV(x).unflatten(-1, (3, N_HEADS, -1)).permute(2, 0, 3, 1, 4)  # (batch, head, len, d_head)
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.W_O(z.transpose(1, 2).flatten(2))


def measurements(seconds: float = SECONDS) -> Iterator[dict[str, Any]]:
    """One record for each length and kind of layer, short texts first; `share` is the fraction done."""
    kinds = {"recurrent": RecurrentLayer(WIDTH, WIDTH), "convolution": Convolution(), "attention": SelfAttention()}
    begin = time.process_time()
    for done, length in enumerate(LENGTHS, start=1):
        x = torch.randn(1, length, WIDTH, generator=torch.Generator().manual_seed(0))
        for kind, layer in kinds.items():
            if time.process_time() - begin > seconds:
                return
            rounds = [_milliseconds(layer, x) for _ in range(1 + ROUNDS)][1:]  # without the warm-up
            reading, training = (min(times) for times in zip(*rounds, strict=True))
            yield {
                "kind": kind,
                "length": length,
                "reading": reading,
                "training": training,
                "share": done / len(LENGTHS),
            }


def _milliseconds(layer: nn.Module, x: Tensor) -> tuple[float, float]:
    """CPU time of a forward pass, and of a forward and a backward pass."""
    begin = time.process_time()
    with torch.inference_mode():
        layer(x)
    between = time.process_time()
    torch.autograd.grad(layer(x).sum(), list(layer.parameters()))
    return (between - begin) * 1e3, (time.process_time() - between) * 1e3


def main() -> None:
    torch.set_num_threads(1)
    report(measurements())


if __name__ == "__main__":
    main()
