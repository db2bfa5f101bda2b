"""x Wᵀ + b, in which a transformer spends most of its time, by the kernel that is fastest for a finished model."""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz import fuse

READY = "_for_onednn"
"""An attribute of a finished model's matrices: what oneDNN reads in their place, or None for themselves. A tensor that
takes the place of such a matrix does not have it."""

AT_ONCE = 2**20
"""Numbers of a matrix in half precision that are float32 at a time: 4 MB, which a processor keeps near. 16 MB it does
not: a row of logits takes twice as long. Below 1 MB the calls cost more than they save."""

SMALL = 50_000_000
"""Larger models, in parameters, keep no copies of their matrices."""

HALF = (torch.bfloat16, torch.float16)
"""Kinds of numbers that a large model may hold its matrices in; it computes in float32."""

Network = TypeVar("Network", bound=nn.Module)


class Linear(nn.Linear):
    """`nn.Linear` by `product`."""

    def forward(self, x: Tensor) -> Tensor:
        return product(x, self.weight, self.bias)


def product(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """x Wᵀ + b: (…, d_in) and (d_out, d_in) to (…, d_out).

    torch multiplies matrices by Intel's MKL, which keeps its fastest kernels for Intel's own processors. oneDNN, which
    comes with torch too, has them for all. It is called by the operator that `torch.compile` puts into its programs; it
    has no gradient, so only finished models use it (`ready_to_read`).

    A matrix in half precision is made float32 here, a part at a time: as exact, and the model takes half the memory, or
    none where W lies in a file.
    """
    if W.dtype in HALF and x.dtype == torch.float32:
        parts = []
        for part in W.split(max(1, AT_ONCE // W.shape[1])):
            fuse.check()  # what is read from a slow disk can be stopped within a layer
            parts.append(in_float32(x, part))
        out = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        return out if b is None else out + b
    if not hasattr(W, READY) or torch.is_grad_enabled() or not x.is_cpu or x.dtype != torch.float32:
        return F.linear(x, W, b)
    copy = getattr(W, READY)
    return torch.ops.mkldnn._linear_pointwise(x, W if copy is None else copy, b, "none", [], "")


def in_float32(x: Tensor, W: Tensor) -> Tensor:
    """x Wᵀ of a matrix in half precision: (…, d_out)."""
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
    """Gives a small finished model a second copy of each matrix, in the order in which oneDNN reads it.

    A sentence then takes two thirds of the time. It is for programs that only read: a change of the weights themselves
    would no longer count.
    """
    if sum(parameter.numel() for parameter in module.parameters()) > SMALL:
        return
    for W in module.parameters():
        if W.is_cpu and hasattr(W, READY):
            setattr(W, READY, torch.ops.mkldnn._reorder_linear_weight(W))
