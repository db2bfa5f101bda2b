"""The training loop: a generator of step records, for whoever wants to show or keep them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tfmviz.model.transformer import DecoderOnly
from tfmviz.training.data import Batches
from tfmviz.training.schedule import cosine


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How to train.

    Attributes:
        steps: updates in the whole run.
        learning_rate: the highest, reached after `warmup` steps.
        weight_decay: AdamW's, on matrices only (Loshchilov & Hutter 2019).
        clip: largest norm of the gradient.
        precision: "bfloat16" runs matrix products in that format, keeping weights and sums in float32.
        seed: of the initial weights, the batches and dropout.
    """

    steps: int
    learning_rate: float = 2e-3
    warmup: int = 200
    weight_decay: float = 0.1
    clip: float = 1.0
    precision: str = "float32"
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """What one update did.

    Attributes:
        step: number of the update, from 0.
        loss: mean next-token cross-entropy of the batch before the update, nats per token.
        learning_rate: of this update.
        grad_norm: of the whole gradient, before clipping.
        tokens_per_second: of this update alone.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    tokens_per_second: float


def next_token_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean of -log softmax(logits)[target] over all positions, nats per token.

    Args:
        logits: (batch, len, vocab).
        targets: (batch, len), the token that follows each position.
    """
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def build_optimizer(model: torch.nn.Module, settings: Settings) -> torch.optim.AdamW:
    """AdamW with β = (0.9, 0.95); biases, norms and other vectors are not decayed."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.95), fused=True)


def train(
    model: DecoderOnly, optimizer: torch.optim.AdamW, batches: Batches, settings: Settings, *, start: int = 0
) -> Iterator[StepRecord]:
    """Runs the updates `start` … `steps - 1`, yielding after each.

    Everything random in a step is drawn from the seed and the step's number: stopping after any yield and going on
    later from the same weights and optimizer state gives the same run.
    """
    device = next(model.parameters()).device
    for step in range(start, settings.steps):
        begin = time.perf_counter()
        torch.manual_seed(settings.seed * 1_000_003 + step)
        model.train()
        inputs, targets = (torch.from_numpy(array).to(device) for array in batches.batch(step))
        with autocast(device, settings.precision):
            logits = model(inputs)
        loss = next_token_loss(logits, targets)
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * cosine(step, warmup=settings.warmup, steps=settings.steps)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield StepRecord(
            step=step,
            loss=loss.item(),
            learning_rate=optimizer.param_groups[0]["lr"],
            grad_norm=grad_norm.item(),
            tokens_per_second=inputs.numel() / (time.perf_counter() - begin),
        )


@torch.inference_mode()
def evaluate(model: DecoderOnly, stream: np.ndarray, *, length: int, max_windows: int | None = None) -> float:
    """Mean next-token cross-entropy on a held-out stream, float32, nats per token.

    The stream is read in windows of `length` side by side, so early tokens of a window have little context.

    Args:
        max_windows: read at most so many; None reads all.

    Raises:
        ValueError: the stream is shorter than one window.
    """
    n_windows = (len(stream) - 1) // length
    if n_windows < 1:
        raise ValueError(f"The held-out text has {len(stream)} tokens; one window needs {length + 1}.")
    n_windows = min(n_windows, max_windows or n_windows)
    model.eval()
    device = next(model.parameters()).device
    total = 0.0
    for first in range(0, n_windows, 16):
        starts = range(first, min(first + 16, n_windows))
        rows = np.stack([stream[w * length :][: length + 1] for w in starts]).astype(np.int64)
        ids = torch.from_numpy(rows).to(device)
        total += next_token_loss(model(ids[:, :-1]), ids[:, 1:]).item() * len(starts)
    return total / n_windows


def autocast(device: torch.device, precision: str) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bfloat16")
