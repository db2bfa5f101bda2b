"""Attention in a file: JSON from any program, or the `.npz` that the explorer saves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def read_file(path: Path) -> Any:
    """The content of a file, as in `arrays.read_layers`.

    JSON is an object with "tokens" and "attentions", or with "encoder_attentions", "decoder_attentions",
    "cross_attentions" and "source"; or the layers alone.

    Raises:
        ValueError: it holds nothing of the kind.
        OSError: it cannot be read.
    """
    if path.suffix == ".npz":
        return _npz(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON ({error}).") from error


def _npz(path: Path) -> Mapping[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = dict(file)
    except (ValueError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path} is no file that numpy has saved ({error}).") from error
    names = {"target.tokens": "tokens", "source.tokens": "source"}
    return found | {new: found[old].tolist() for old, new in names.items() if old in found}
