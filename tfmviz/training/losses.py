"""The loss that training minimises."""

from __future__ import annotations

import math
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

IGNORED = -100
"""Target of positions without one: padding, or a word not asked for."""


def token_loss(logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, n_targets: float | None = None) -> Tensor:
    """Mean of KL(q ‖ softmax(logits)) over the targets, in nats per token.

    q puts 1 - ε on the right token and spreads ε evenly over all tokens (Szegedy et al. 2016; Vaswani et al. 2017,
    section 5.4). Without smoothing this is the cross-entropy, -log softmax(logits)[target]; with it,
    `CrossEntropyLoss(label_smoothing=ε)` minus the entropy of q, so the minimum is 0.

    Args:
        logits: (batch, len, vocab).
        targets: (batch, len), indices or `IGNORED`.
        smoothing: ε, in [0, 1).
        n_targets: the divisor, if these are only some of the targets.
    """
    flat = targets.flatten()
    n_here = int((flat != IGNORED).sum())
    if logits.requires_grad:
        total = cast(Any, InParts).apply(logits.flatten(0, 1), flat, smoothing)
    else:
        total = summed_cross_entropy(logits.flatten(0, 1), flat, smoothing)
    if smoothing:
        total = total - n_here * smoothed_entropy(smoothing, vocab_size=logits.shape[-1])
    return total / (n_here if n_targets is None else n_targets)


def summed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Summed cross-entropy in float32. logits: (n, vocab), targets: (n,)."""
    return F.cross_entropy(logits.float(), targets, ignore_index=IGNORED, label_smoothing=smoothing, reduction="sum")


class InParts(torch.autograd.Function):
    """`summed_cross_entropy` with the gradient computed in the forward pass, some rows at a time.

    A backward pass through all rows needs four float32 arrays of the logits' size.
    """

    ROWS = 512

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        gradient, total = torch.empty_like(logits), torch.zeros((), device=logits.device)
        for rows in (slice(first, first + InParts.ROWS) for first in range(0, len(logits), InParts.ROWS)):
            with torch.enable_grad():
                part = logits[rows].detach().float().requires_grad_()
                loss = summed_cross_entropy(part, targets[rows], smoothing)
            gradient[rows] = torch.autograd.grad(loss, part)[0]
            total += loss.detach()
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0], None, None


def smoothed_entropy(smoothing: float, *, vocab_size: int) -> float:
    """Entropy of the smoothed target q, in nats."""
    other = smoothing / vocab_size
    right = 1 - smoothing + other
    return -right * math.log(right) - (vocab_size - 1) * other * math.log(other)
