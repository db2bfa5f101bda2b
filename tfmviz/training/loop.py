"""The training loop: a generator of step records."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np
import torch
from torch import Tensor, nn

from tfmviz.model.build import Model
from tfmviz.schedule import cosine, noam_factor
from tfmviz.training.data import Batch, Batches
from tfmviz.training.distributed import mean_over_processes, n_processes, rank, share_of
from tfmviz.training.losses import IGNORED, token_loss

OptimizerName = Literal["adamw", "adam"]
ScheduleName = Literal["cosine", "noam"]
Precision = Literal["float32", "bfloat16"]

APART = 2_654_435_761
"""Difference between the seeds of two processes: 2³² over the golden ratio, which spreads any number of them evenly. A
CPU generator reads only the last 32 bits of a seed.
"""


class Diverged(ValueError):
    """A loss or gradient is no longer finite."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings of a run.

    Attributes:
        optimizer: "adam" with β = (0.9, 0.98) and ε = 1e-9 is the 2017 paper's; "adamw" has β = (0.9, 0.95).
        schedule: of the learning rate after its warmup; "noam" is the 2017 paper's.
        learning_rate: the highest, reached after `warmup` steps.
        changes: pairs of updates done and the highest learning rate from then on; the schedule continues.
        weight_decay: AdamW's, on matrices only (Loshchilov & Hutter 2019).
        smoothing: ε of label smoothing.
        clip: largest norm of the gradient.
        precision: "bfloat16" is for matrix products; weights and sums stay in float32.
        seed: of initial weights, batches and dropout.
    """

    steps: int
    optimizer: OptimizerName = "adamw"
    schedule: ScheduleName = "cosine"
    learning_rate: float = 2e-3
    warmup: int = 200
    weight_decay: float = 0.1
    smoothing: float = 0.0
    clip: float = 1.0
    precision: Precision = "float32"
    seed: int = 0
    changes: tuple[tuple[int, float], ...] = ()

    def learning_rate_at(self, step: int) -> float:
        highest = next((rate for first, rate in reversed(self.changes) if first <= step), self.learning_rate)
        match self.schedule:
            case "noam":
                return highest * noam_factor(step, warmup=self.warmup)
            case "cosine":
                return highest * cosine(step, warmup=self.warmup, steps=self.steps)
            case _:
                assert_never(self.schedule)


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """The record of one update.

    Attributes:
        step: index of the update, from 0.
        loss: before the update, in nats per token.
        grad_norm: of the whole gradient, before clipping.
        tokens: read by all stacks, without padding.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    tokens: int
    tokens_per_second: float


def build_optimizer(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """The optimizer; AdamW does not decay biases, norms and other vectors."""
    parameters = list(model.parameters())
    match settings.optimizer:
        case "adam":
            return torch.optim.Adam(parameters, lr=settings.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)
        case "adamw":
            groups = [
                {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": settings.weight_decay},
                {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
            ]
            return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.95), fused=True)
        case _:
            assert_never(settings.optimizer)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Batches,
    settings: Settings,
    *,
    start: int = 0,
    rate_at: Callable[[int], float] | None = None,
) -> Iterator[StepRecord]:
    """Runs the updates `start` … `steps - 1` and yields a record after each.

    All randomness of a step derives from the seed and its index, so a resumed run is the same run.

    Args:
        rate_at: called just before each update; None: the settings' learning rate.

    Raises: Diverged, in all processes together; that update is not applied.
    """
    for step in range(start, settings.steps):
        begin, rate = time.perf_counter(), (rate_at or settings.learning_rate_at)(step)
        torch.manual_seed(settings.seed * 1_000_003 + step + rank() * APART)
        model.train()
        loss = _loss(model, batch := batches.batch(step), settings)
        mean_loss = _finite(mean_over_processes(loss.item()), "loss", step)
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        _finite(grad_norm.item(), "length of the gradient", step)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield StepRecord(
            step=step,
            loss=mean_loss,
            learning_rate=optimizer.param_groups[0]["lr"],
            grad_norm=grad_norm.item(),
            tokens=n_tokens(batch),
            tokens_per_second=n_tokens(batch) / (time.perf_counter() - begin),
        )


def _finite(value: float, name: str, step: int) -> float:
    if not math.isfinite(value):
        raise Diverged(f"The run has diverged: the {name} in update {step + 1:,} is {value}.")
    return value


def _loss(model: nn.Module, batch: Batch, settings: Settings) -> Tensor:
    device = next(model.parameters()).device
    n_targets = int((batch[1] != IGNORED).sum()) / n_processes()  # gradients are averaged over the processes
    inputs, targets = on_device(share_of(batch), device)
    with autocast(device, settings.precision):
        logits = model(**inputs)
    return token_loss(logits, targets, smoothing=settings.smoothing, n_targets=n_targets)


@torch.inference_mode()
def evaluate(model: Model, batches: Iterable[Batch]) -> float:
    """Mean cross-entropy over all targets, in nats per token."""
    model.eval()
    device = next(model.parameters()).device
    total, n_targets = 0.0, 0
    for batch in batches:
        inputs, targets = on_device(batch, device)
        n_here = int((targets != IGNORED).sum())
        total += token_loss(model(**inputs), targets).item() * n_here
        n_targets += n_here
    return total / n_targets


def on_device(batch: Batch, device: torch.device) -> tuple[dict[str, Tensor], Tensor]:
    inputs, targets = batch
    return {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}, torch.from_numpy(targets).to(
        device
    )


def n_tokens(batch: Batch) -> int:
    """Tokens that all stacks read, without padding."""
    inputs, targets = batch
    if "src" in inputs:
        return int(inputs["src_lengths"].sum() + (targets != IGNORED).sum())
    return int(inputs["lengths"].sum()) if "lengths" in inputs else int(np.size(inputs["ids"]))


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bfloat16")
