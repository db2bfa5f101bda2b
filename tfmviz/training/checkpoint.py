"""Saving and resuming a run. Only safetensors: loading a checkpoint never executes anything."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn


class CheckpointError(ValueError):
    """A checkpoint cannot be resumed from; the message says why."""


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, *, step: int, run: Mapping[str, Any]) -> None:
    """Writes everything the next step depends on, whole or not at all.

    The file is written beside its place and then moved there, so a crash or a full disk leaves the last good one.

    Args:
        step: updates done so far.
        run: the settings that must be the same on resuming; anything JSON can hold.
    """
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state[parameter].items():
            tensors[f"optimizer.{key}.{name}"] = value
    write_whole(path, tensors, metadata={"step": str(step), "run": json.dumps(run, sort_keys=True)})


def save_snapshot(path: Path, model: nn.Module) -> None:
    """Writes the weights alone, in float16, to look at later."""
    path.parent.mkdir(exist_ok=True)
    write_whole(path, {name: value.half() for name, value in model.state_dict().items()}, metadata={})


def write_whole(path: Path, tensors: Mapping[str, Tensor], *, metadata: dict[str, str]) -> None:
    """Raises: OSError, when there is no room; what was there before then is still there."""
    temporary = path.with_suffix(".partial")
    try:
        save_file(
            {name: value.detach().cpu().contiguous() for name, value in tensors.items()}, temporary, metadata=metadata
        )
        os.replace(temporary, path)
    except SafetensorError as error:
        raise OSError(f"{path} cannot be written ({error}).") from error
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, *, run: Mapping[str, Any]) -> int:
    """Puts a saved run back in place.

    Returns:
        Updates done so far: the number of the next step.

    Raises:
        CheckpointError: the file is damaged, or belongs to a run with other settings.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        saved, step = dict(json.loads(header["run"])), int(header["step"])
    except Exception as error:  # safetensors raises its own bare exception type
        raise CheckpointError(f"{path} is not a readable checkpoint ({error}).") from error
    current = json.loads(json.dumps(run))
    if differing := sorted(key for key in saved.keys() | current.keys() if saved.get(key) != current.get(key)):
        details = "; ".join(f"{key}: {saved.get(key)} there, {current.get(key)} now" for key in differing)
        raise CheckpointError(f"{path} belongs to another run ({details}).")
    parameters = dict(model.named_parameters())
    expected = {f"model.{name}" for name in model.state_dict()}
    expected |= {f"optimizer.{key}.{name}" for key in ("step", "exp_avg", "exp_avg_sq") for name in parameters}
    if step and (missing := sorted(expected - tensors.keys())):
        raise CheckpointError(f"{path} is not complete: {missing[0]} is missing.")
    model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, key, parameter_name = name.split(".", 2)
            parameter = parameters[parameter_name]
            optimizer.state[parameter][key] = tensor.to(parameter.device)
    return step
