"""The device of a model: token ids go in, arrays come out.

A forward pass computes on the device of its inputs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from tfmviz.model.linear import HALF
from tfmviz.record.trace import Array

LARGE = 50_000_000
"""Parameters beyond which a model uses a GPU: below, the transfer takes as long as the work on a sentence."""

SETTING = "TFMVIZ_DEVICE"
"""Environment variable that overrides this: "cpu", "cuda", "cuda:1" …"""

Network = TypeVar("Network", bound=nn.Module)


def placed(module: Network) -> Network:
    """Moves a finished model to its device.

    Raises:
        ValueError: the device in `SETTING` does not exist, or has no room for the weights.
    """
    device = chosen_for(sum(parameter.numel() for parameter in module.parameters()))
    try:
        return module.to(device)
    except torch.OutOfMemoryError as error:
        raise ValueError(f"{device} has no room for its weights. {SETTING}=cpu keeps it on the processor.") from error


def chosen_for(n_parameters: int) -> torch.device:
    wish = os.environ.get(SETTING)
    if not wish:
        return torch.device("cuda" if n_parameters > LARGE and torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wish)
    except RuntimeError as error:
        raise ValueError(f"{SETTING} is {wish!r}, which is not a device. Use cpu or cuda.") from error
    count = torch.cuda.device_count() if device.type == "cuda" else 1
    if device.type not in ("cpu", "cuda") or (device.index or 0) >= count:
        raise ValueError(f"{SETTING} is {wish!r}, but there is no such device here. Use cpu, or unset it.")
    return device


def device_of(module: nn.Module) -> torch.device:
    return next(module.parameters()).device


def ids_for(module: nn.Module, ids: Sequence[Sequence[int]] | Sequence[int]) -> Tensor:
    """Token ids, (batch, len) or (len,), on the model's device."""
    return torch.tensor(ids, device=device_of(module))


def batch_for(module: nn.Module, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Texts padded with zeros, (batch, longest), and their lengths, (batch,)."""
    device = device_of(module)
    rows = pad_sequence([torch.tensor(ids, device=device) for ids in texts], batch_first=True)
    return rows, torch.tensor([len(ids) for ids in texts], device=device)


def to_array(value: Tensor) -> Array:
    """A tensor as an array: half precision becomes float32, anything else shares its memory on a CPU."""
    return (value.float() if value.dtype in HALF else value).detach().cpu().numpy()
