"""Saving and resuming a run. Only safetensors: loading a checkpoint never executes code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from tfmviz.training.files import replacing


class CheckpointError(ValueError):
    """A run cannot resume from a checkpoint."""


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, *, step: int, run: Mapping[str, Any]) -> None:
    """Writes everything the next step depends on, with a checksum, atomically.

    Args:
        run: settings that must be unchanged on resuming, as JSON values.

    Raises:
        OSError: there is no room; the last checkpoint remains.
    """
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state[parameter].items():
            tensors[f"optimizer.{key}.{name}"] = value
    tensors = on_cpu(tensors)
    header = {"step": str(step), "run": json.dumps(run, sort_keys=True)}
    with replacing(path) as (temporary,):
        save_file(tensors, temporary, metadata=header | {"checksum": checksum(tensors, header)})


def save_snapshot(path: Path, model: nn.Module) -> None:
    """Writes the weights alone, in float16. Raises OSError if there is no room."""
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as (temporary,):
        save_file(on_cpu({name: value.half() for name, value in model.state_dict().items()}), temporary)


def on_cpu(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def checksum(tensors: Mapping[str, Tensor], header: Mapping[str, str]) -> str:
    """BLAKE2b of the header and all tensors, with names, types and shapes: 32 hexadecimal digits."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, *, run: Mapping[str, Any]) -> int:
    """Restores model and optimizer. Returns the index of the next step.

    Raises:
        CheckpointError: the file is damaged, or belongs to a run with other settings.
    """
    tensors, saved, step = read_checkpoint(path)
    current = json.loads(json.dumps(run))
    if differing := sorted(key for key in saved.keys() | current.keys() if saved.get(key) != current.get(key)):
        details = "; ".join(f"{key}: {saved.get(key)} there, {current.get(key)} now" for key in differing)
        raise CheckpointError(f"{path} belongs to another run ({details}). Choose another --out.")
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


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any], int]:
    """The tensors, the settings and the number of updates in a checkpoint.

    Raises:
        CheckpointError: it cannot be read, or its checksum does not match.
    """
    advice = "Put back a copy of it, or delete it to train from the beginning."
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        written = header.pop("checksum")
        saved, step = dict(json.loads(header["run"])), int(header["step"])
    except Exception as error:  # safetensors raises its own bare exception type
        raise CheckpointError(f"{path} is not a readable checkpoint ({error}). {advice}") from error
    if checksum(tensors, header) != written:
        raise CheckpointError(f"{path} is damaged: its contents do not match their checksum. {advice}")
    return tensors, saved, step
