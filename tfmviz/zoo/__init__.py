"""The models that can be shown, by name: those shipped in `assets/models/`, and the reader's own.

Listing them needs no torch; names that need it are imported on first use. Lists are alphabetical. Earlier models have
separate lists, as most pages need attention heads.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from tfmviz.model.config import ModelConfig
from tfmviz.model.earlier import AnyEarlier, EarlierConfig, LabellerConfig, Seq2SeqConfig, read_config
from tfmviz.paths import PROJECT, own_models
from tfmviz.zoo.limits import Refused, check_folder

if TYPE_CHECKING:
    from tfmviz.zoo import experiments as experiments
    from tfmviz.zoo import pictures as pictures
    from tfmviz.zoo import snapshots as snapshots
    from tfmviz.zoo import writing as writing
    from tfmviz.zoo.loading import load as load
    from tfmviz.zoo.loading import vocabularies as vocabularies
    from tfmviz.zoo.loading import with_copies as with_copies
    from tfmviz.zoo.model import EarlierModel as EarlierModel
    from tfmviz.zoo.model import Loaded as Loaded
    from tfmviz.zoo.model import RecurrentLabeller as RecurrentLabeller
    from tfmviz.zoo.model import RecurrentTranslator as RecurrentTranslator
    from tfmviz.zoo.model import ZooModel as ZooModel
    from tfmviz.zoo.model import attention_code as attention_code

WITH_TORCH = {
    "loading": ("load", "vocabularies", "with_copies"),
    "model": ("EarlierModel", "Loaded", "RecurrentLabeller", "RecurrentTranslator", "ZooModel", "attention_code"),
}
"""Names in the modules of this room that import torch."""


def __getattr__(name: str) -> Any:
    """Imports what needs torch. Raises: AttributeError."""
    for module, names in WITH_TORCH.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    if name in ("experiments", "pictures", "snapshots", "writing"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


MODELS = PROJECT / "assets" / "models"

FILES = ("config.json", "model.safetensors", "tokenizer.json")
"""The files without which a model cannot be loaded."""

TRIAL = "The cat sat on the mat."
"""The text on which every model is tried when it is loaded."""


class ModelUnavailable(LookupError):
    """A model cannot be loaded. The message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One folder of the zoo.

    Attributes:
        problem: why the model cannot be loaded, in a sentence.
        config: of a transformer.
        earlier: of an earlier model.
    """

    name: str
    problem: str | None
    config: ModelConfig | None
    folder: Path = field(default=Path(), compare=False)
    earlier: AnyEarlier | None = None


def catalogue(folder: Path | None = None) -> tuple[Entry, ...]:
    """All transformers, damaged ones included. Reads headers only.

    Args:
        folder: None: the shipped models and the reader's own, whose names cannot hide shipped ones.
    """
    return tuple(entry for entry in everything(folder) if entry.earlier is None)


def earlier(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the intact earlier language models."""
    return tuple(entry.name for entry in everything(folder) if isinstance(entry.earlier, EarlierConfig))


def translators(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the intact recurrent translators."""
    return tuple(entry.name for entry in everything(folder) if isinstance(entry.earlier, Seq2SeqConfig))


def labellers(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the intact recurrent labellers."""
    return tuple(entry.name for entry in everything(folder) if isinstance(entry.earlier, LabellerConfig))


def everything(folder: Path | None = None) -> tuple[Entry, ...]:
    places = {os.path.basename(path): path for place in folders(folder) for path in _in(place)}
    return tuple(_inspect(places[name], _stamp(places[name])) for name in sorted(places))


def folders(folder: Path | None = None) -> tuple[Path, ...]:
    """The folders of models; those of the last are preferred."""
    return (own_models(), MODELS) if folder is None else (folder,)


def _in(place: Path) -> list[str]:
    """Paths of the models in a place; a folder that begins with a dot is unfinished."""
    if not place.is_dir():
        return []
    with os.scandir(place) as found:
        return [entry.path for entry in found if entry.is_dir() and not entry.name.startswith(".")]


def _stamp(folder: str) -> tuple[tuple[int, int] | None, ...]:
    """Size and time of each of `FILES`, the key of what was read from them."""
    found: list[tuple[int, int] | None] = []
    for name in FILES:
        try:
            stat = os.stat(f"{folder}/{name}")
            found.append((stat.st_size, stat.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def available(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the intact transformers."""
    return tuple(entry.name for entry in catalogue(folder) if entry.problem is None)


def written(name: str) -> int:
    """Time of the weights, in nanoseconds since 1970; 0 if they are missing."""
    for place in reversed(folders()):
        with suppress(OSError):
            return (place / name / FILES[1]).stat().st_mtime_ns
    return 0


def weights_hash(name: str, folder: Path | None = None) -> str:
    """A hash of the weights; "" if they are missing."""
    places = [path for place in folders(folder) for path in _in(place) if os.path.basename(path) == name]
    path = Path(places[-1], FILES[1]) if places else Path()
    return _hash(path, path.stat().st_mtime_ns) if path.is_file() else ""


@lru_cache(maxsize=16)
def _hash(path: Path, stamp: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


@lru_cache(maxsize=256)
def _inspect(place: str, stamp: tuple[tuple[int, int] | None, ...]) -> Entry:
    """Checks without torch the config, the weights' header, and that there is a tokenizer."""
    folder = Path(place)
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        return Entry(folder.name, f"{missing[0]} is missing.", None, folder)
    try:
        check_folder(folder)
        config = read_config(json.loads((folder / "config.json").read_text(encoding="utf-8")))
        with safe_open(folder / "model.safetensors", framework="numpy"):
            pass  # opening checks the header against the size of the file
    except Refused as refused:
        return Entry(folder.name, str(refused), None, folder)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        return Entry(folder.name, f"Its files are damaged ({error}).", None, folder)
    if isinstance(config, ModelConfig):
        return Entry(folder.name, None, config, folder)
    return Entry(folder.name, None, None, folder, config)
