"""Dropout and x Wᵀ + b at less cost to a finished model."""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz import deadline

READY = "_for_onednn"
"""An attribute of a finished model's matrices: oneDNN's copy, or None for the matrix itself."""

AT_ONCE = 2**20
"""Entries of a half-precision matrix converted at a time: 4 MB of float32, which fits the cache. With 16 MB a row of
logits takes 1.5 times as long.
"""

SMALL = 50_000_000
"""Larger models, in parameters, keep no copies of their matrices."""

HALF = (torch.bfloat16, torch.float16)
"""Types in which a large model may store its matrices; it computes in float32."""

Network = TypeVar("Network", bound=nn.Module)


class Dropout(nn.Dropout):
    """torch's dropout, called only in training: a call that changes nothing costs as much as a norm."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) if self.training else x


class Linear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return product(x, self.weight, self.bias)


def product(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """x Wᵀ + b: (…, d_in) and (d_out, d_in) to (…, d_out).

    torch uses Intel's MKL, whose fastest kernels run only on Intel's processors; oneDNN has them for all. Its operator
    has no gradient, so only finished models use it (`ready_to_read`).

    A half-precision matrix is converted to float32 a part at a time: as exact, in half the memory, or in none if W is
    memory-mapped.
    """
    if W.dtype in HALF and x.dtype == torch.float32:
        parts = []
        for part in W.split(max(1, AT_ONCE // W.shape[1])):
            deadline.check()  # what is read from a slow disk can be stopped within a layer
            parts.append(in_float32(x, part))
        out = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        return out if b is None else out + b
    if not hasattr(W, READY) or torch.is_grad_enabled() or not x.is_cpu or x.dtype != torch.float32:
        return F.linear(x, W, b)
    copy = getattr(W, READY)
    return torch.ops.mkldnn._linear_pointwise(x, W if copy is None else copy, b, "none", [], "")


def in_float32(x: Tensor, W: Tensor) -> Tensor:
    W = W.float()
    if x.is_cpu and torch.backends.mkldnn.is_available() and not torch.is_grad_enabled():
        return torch.ops.mkldnn._linear_pointwise(x, W, None, "none", [], "")
    return F.linear(x, W)


def ready_to_read(module: Network) -> Network:
    """Prepares a finished model for single sentences: no dropout, no gradients, products by oneDNN."""
    module.eval().requires_grad_(False)
    if torch.backends.mkldnn.is_available():
        for W in module.parameters():
            if W.ndim == 2:
                setattr(W, READY, None)
    return module


def keep_copies(module: nn.Module) -> None:
    """Gives a small finished model a second copy of each matrix, in oneDNN's memory layout.

    A sentence then takes two thirds of the time. Later changes of the weights have no effect.
    """
    if sum(parameter.numel() for parameter in module.parameters()) > SMALL:
        return
    for W in module.parameters():
        if W.is_cpu and hasattr(W, READY):
            setattr(W, READY, torch.ops.mkldnn._reorder_linear_weight(W))
