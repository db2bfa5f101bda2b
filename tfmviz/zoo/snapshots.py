"""A model at several steps of its training, kept in the folder `snapshots/`."""

from __future__ import annotations

import json
import re
from pathlib import Path

from safetensors import SafetensorError

from tfmviz.model.config import ModelConfig
from tfmviz.zoo import ModelUnavailable
from tfmviz.zoo.files import read_module, read_tokenizer
from tfmviz.zoo.model import ZooModel


def steps(folder: Path) -> tuple[int, ...]:
    """The steps at which weights were kept, in order."""
    names = (file.name for file in (folder / "snapshots").glob("*.safetensors"))
    return tuple(sorted(int(found[1]) for name in names if (found := re.fullmatch(r"(\d{7})\.safetensors", name))))


def load(folder: Path, step: int) -> ZooModel:
    """The model after so many steps.

    Raises:
        ModelUnavailable: there is no such snapshot, or its files are damaged.
    """
    try:
        config = ModelConfig.from_dict(json.loads((folder / "config.json").read_text(encoding="utf-8")))
        tokenizer = read_tokenizer(folder, config)
        module = read_module(folder, config, weights_file=f"snapshots/{step:07d}.safetensors")
    except (OSError, ValueError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelUnavailable(f"{folder.name} after step {step:,} cannot be loaded: {error}") from error
    return ZooModel(name=f"{folder.name}, step {step:,}", config=config, tokenizer=tokenizer, module=module)
