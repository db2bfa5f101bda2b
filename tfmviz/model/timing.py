"""The time of a decoding step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import torch
from torch import Tensor

from tfmviz.model.cache import Cache
from tfmviz.model.device import device_of
from tfmviz.model.transformer import DecoderOnly
from tfmviz.record.tap import NO_TAP, Tap


@torch.inference_mode()
def step_times(model: DecoderOnly, lengths: Sequence[int], *, rounds: int) -> tuple[list[float], list[float]]:
    """Medians in milliseconds of a step without the cache and with it, for texts of these lengths.

    Each round measures all lengths both ways, so that a slow moment of the machine affects all equally.
    """
    found: list[list[list[float]]] = [[[], []] for _ in lengths]
    numbers = torch.Generator().manual_seed(0)
    texts = [torch.randint(1, model.config.vocab_size, (1, length), generator=numbers) for length in lengths]
    texts = [text.to(device_of(model)) for text in texts]
    caches = [Cache() for _ in lengths]
    for text, cache in zip(texts, caches, strict=True):
        model(text[:, :-1], cache)
    for _ in range(rounds):
        for (without, kept), text, cache in zip(found, texts, caches, strict=True):
            without.append(_milliseconds(model, text, NO_TAP, past=0))
            past = text.shape[1] - 1
            kept.append(_milliseconds(model, text[:, past:], cache.branch(), past=past))
    return [median(without) for without, _ in found], [median(kept) for _, kept in found]


def _milliseconds(model: DecoderOnly, text: Tensor, tap: Tap, *, past: int) -> float:
    begin = _clock(text)
    model(text, tap, past=past)
    return (_clock(text) - begin) * 1e3


def _clock(text: Tensor) -> float:
    """Waits for the GPU."""
    if text.is_cuda:
        torch.cuda.synchronize(text.device)
    return time.perf_counter()
