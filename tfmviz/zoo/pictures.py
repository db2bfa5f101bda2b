"""The two readers of digits, their pictures, and their accuracy."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from tfmviz.model.device import to_array
from tfmviz.model.linear import ready_to_read
from tfmviz.model.pictures import ACROSS as ACROSS
from tfmviz.model.pictures import N_PATCHES as N_PATCHES
from tfmviz.model.pictures import PATCH as PATCH
from tfmviz.model.pictures import SIDE as SIDE
from tfmviz.model.pictures import PictureReader as PictureReader
from tfmviz.model.pictures import config, patches
from tfmviz.paths import PROJECT
from tfmviz.record.tap import Recorder
from tfmviz.record.trace import Array
from tfmviz.zoo import ModelUnavailable

FOLDER = PROJECT / "assets" / "digits"

POSITIONS = ("learned", "none")
"""The models by their positions of patches; each is a file of weights."""

GREYS = 16
"""The largest value of a cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Digits:
    """Pictures (digit, side, side), from 0 to `GREYS`, and what they show; every fifth is held out."""

    pictures: Array
    labels: Array

    @cached_property
    def is_held_out(self) -> Array:
        return np.arange(len(self.labels)) % 5 == 4

    @property
    def train(self) -> tuple[Array, Array]:
        """Pictures in [0, 1] and labels."""
        return self._part(~self.is_held_out)

    @property
    def held_out(self) -> tuple[Array, Array]:
        return self._part(self.is_held_out)

    def _part(self, rows: Array) -> tuple[Array, Array]:
        return self.pictures[rows].astype(np.float32) / GREYS, self.labels[rows]


def digits(folder: Path = FOLDER) -> Digits:
    """Raises: ModelUnavailable, if the file is missing or damaged."""
    try:
        with np.load(folder / "digits.npz") as arrays:
            return Digits(pictures=arrays["pictures"], labels=arrays["labels"])
    except (OSError, ValueError, KeyError) as error:
        raise ModelUnavailable(f"The digits cannot be read: {error}") from error


def load(positions: str, folder: Path = FOLDER) -> PictureReader:
    """Raises: ModelUnavailable, if the weights are missing or damaged."""
    try:
        weights = load_file(folder / f"{positions}.safetensors")
        module = PictureReader(config(positions))
        module.load_state_dict({name: value.float() for name, value in weights.items()})
    except (OSError, RuntimeError, SafetensorError) as error:
        raise ModelUnavailable(f"The reader of digits cannot be loaded: {error}") from error
    return ready_to_read(module)


def weights_hash(positions: str, folder: Path = FOLDER) -> str:
    return hashlib.blake2b((folder / f"{positions}.safetensors").read_bytes(), digest_size=8).hexdigest()


def read_picture(model: PictureReader, picture: Array, order: Array | None = None) -> dict[str, Array]:
    """Everything that the model computes on one picture, by its sites, without the batch axis.

    Args:
        picture: (side, side) in [0, 1].
        order: the patch at each place.
    """
    recorder = Recorder()
    with torch.inference_mode():
        model(_ordered(picture[None], None if order is None else order[None]), recorder)
    return {site: to_array(value[0]) for site, value in recorder.values.items() if value.ndim > 2 or site == "logits"}


def measure(model: PictureReader, digits: Digits) -> dict[str, float]:
    """The share of held-out digits that the model identifies, with patches in order and shuffled."""
    pictures, labels = digits.held_out
    rng = np.random.default_rng(0)
    orders = np.stack([rng.permutation(N_PATCHES) for _ in labels])
    found = {}
    for name, order in (("in order", None), ("shuffled", orders)):
        with torch.inference_mode():
            guesses = model(_ordered(pictures, order)).argmax(dim=-1).numpy()
        found[name] = round(float((guesses == labels).mean()), 4)
    return found


def _ordered(pictures: Array, orders: Array | None) -> torch.Tensor:
    """(batch, patch, numbers): patches as they lie, or in the order given for each picture."""
    cut = patches(torch.from_numpy(np.ascontiguousarray(pictures, dtype=np.float32)))
    if orders is None:
        return cut
    return cut.gather(1, torch.from_numpy(orders)[..., None].expand(-1, -1, cut.shape[-1]))
