"""What training makes smaller."""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

IGNORED = -100
"""A target that is none: padding, or a word that is not asked for."""


def token_loss(logits: Tensor, targets: Tensor, *, smoothing: float = 0.0, n_targets: float | None = None) -> Tensor:
    """Mean of KL(q ‖ softmax(logits)) over the targets, nats per token.

    q has 1 - ε on the right token and spreads ε evenly over all (Szegedy et al. 2016; section 5.4 of Vaswani et al.
    2017, with ε = 0.1). Without smoothing that is the cross-entropy, -log softmax(logits)[target]. With it, it is
    `CrossEntropyLoss(label_smoothing=ε)` less the entropy of q, which no model can go below: here the least is 0.

    Args:
        logits: (batch, len, vocab).
        targets: (batch, len), indices or `IGNORED`.
        smoothing: ε, in [0, 1).
        n_targets: what the sum is divided by, where these are only some of the targets; None counts them.
    """
    flat = targets.flatten()
    n_here = int((flat != IGNORED).sum())
    total = F.cross_entropy(
        logits.flatten(0, 1).float(), flat, ignore_index=IGNORED, label_smoothing=smoothing, reduction="sum"
    )
    if smoothing:
        total = total - n_here * smoothed_entropy(smoothing, vocab_size=logits.shape[-1])
    return total / (n_here if n_targets is None else n_targets)


def smoothed_entropy(smoothing: float, *, vocab_size: int) -> float:
    """Entropy of the smoothed target q, nats."""
    other = smoothing / vocab_size
    right = 1 - smoothing + other
    return -right * math.log(right) - (vocab_size - 1) * other * math.log(other)
