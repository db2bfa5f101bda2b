"""Training in several processes started by `torchrun`, each on its own device.

Every process makes the whole batch, and runs its share of the rows. Gradients are averaged (DistributedDataParallel),
so the run equals one in a single process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from tfmviz.training.data import Batch


@contextmanager
def processes(device: str) -> Iterator[str]:
    """Joins the other processes, if any, and leaves them at the end."""
    if "LOCAL_RANK" not in os.environ:
        yield device
        return
    if device == "cuda":
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield device
    finally:
        dist.destroy_process_group()


def rank() -> int:
    """Index of this process, from 0; only process 0 writes files and prints."""
    return dist.get_rank() if dist.is_initialized() else 0


def n_processes() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def wait() -> None:
    if dist.is_initialized():
        dist.barrier()


@contextmanager
def first_process_first() -> Iterator[None]:
    """Runs the block in the first process before the others."""
    if rank() > 0:
        wait()
    try:
        yield
    finally:
        if rank() == 0:
            wait()


def share_of(batch: Batch) -> Batch:
    inputs, targets = batch
    rows = slice(rank(), None, n_processes())
    return {name: array[rows] for name, array in inputs.items()}, targets[rows]


def parallel(model: nn.Module) -> nn.Module:
    """The model, with gradients averaged over the processes, if there are several."""
    return DistributedDataParallel(model) if dist.is_initialized() else model


def mean_over_processes(value: float) -> float:
    if not dist.is_initialized():
        return value
    total = _to_send(value)
    dist.all_reduce(total)
    return total.item() / n_processes()


def from_first_process(value: float) -> float:
    """The first process's value, in all of them."""
    if not dist.is_initialized():
        return value
    sent = _to_send(value)
    dist.broadcast(sent, src=0)
    return sent.item()


def _to_send(value: float) -> torch.Tensor:
    device = torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")
    return torch.tensor(value, dtype=torch.float64, device=device)
