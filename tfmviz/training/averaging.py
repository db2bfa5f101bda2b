"""The mean of the weights at the last checkpoints of a run.

Vaswani et al. 2017 (section 6.1) translate with the mean of the last five or twenty checkpoints. Late in a run the
weights scatter about a point of lower loss than any of them (Izmailov et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from tfmviz.training.checkpoint import on_cpu
from tfmviz.training.files import replacing


def keep(folder: Path, model: nn.Module, *, step: int, n: int) -> None:
    """Writes the weights in full precision, and deletes all such files but the last `n`.

    Raises:
        OSError: there is no room.
    """
    folder.mkdir(exist_ok=True)
    with replacing(folder / f"{step:07d}.safetensors") as (temporary,):
        save_file(on_cpu(model.state_dict()), temporary)
    for file in kept(folder, until=step)[:-n]:
        file.unlink()


def kept(folder: Path, *, until: int) -> list[Path]:
    """The files of at most `until` updates, sorted by step."""
    return [file for file in sorted(folder.glob("*.safetensors")) if int(file.stem) <= until]


def average(model: nn.Module, files: Sequence[Path]) -> None:
    """Sets the weights to the mean over the files, summed in float64.

    Raises:
        ValueError: there is no file, or one is damaged.
    """
    if not files:
        raise ValueError("No weights were kept on the way to take the mean of; --average must be given from the start.")
    total = {name: torch.zeros_like(value, dtype=torch.float64) for name, value in model.state_dict().items()}
    for file in files:
        try:
            weights = load_file(file)
        except SafetensorError as error:
            raise ValueError(f"{file} holds no weights to take the mean of ({error}).") from error
        for name, value in weights.items():
            total[name] += value.to(total[name].device)
    model.load_state_dict({name: value / len(files) for name, value in total.items()})
