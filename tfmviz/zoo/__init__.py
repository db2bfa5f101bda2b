"""The models that can be shown, by name: those shipped in `assets/models/`, and the reader's own.

Listing them needs no torch; loading one does. Models from before the transformer have lists of their own, as most pages
need attention heads.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

from safetensors import SafetensorError, safe_open

from tfmviz.model.config import ModelConfig
from tfmviz.model.earlier import AnyEarlier, EarlierConfig, LabellerConfig, Seq2SeqConfig, read_config
from tfmviz.places import PROJECT, own_models
from tfmviz.record.decoding import Generation
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo.earlier import EarlierModel
from tfmviz.zoo.labeller import RecurrentLabeller
from tfmviz.zoo.model import ZooModel, attention_code
from tfmviz.zoo.translator import RecurrentTranslator

__all__ = [
    "EarlierModel",
    "Entry",
    "Generation",
    "ModelUnavailable",
    "RecurrentLabeller",
    "RecurrentTranslator",
    "ZooModel",
    "attention_code",
    "available",
    "catalogue",
    "earlier",
    "labellers",
    "load",
    "load_earlier",
    "load_labeller",
    "load_translator",
    "translators",
    "vocabularies",
    "weights_hash",
    "with_copies",
    "written",
]

MODELS = PROJECT / "assets" / "models"

FILES = ("config.json", "model.safetensors", "tokenizer.json")
"""The files without which a model cannot be loaded."""

TRIAL = "The cat sat on the mat."
"""The sentence on which every model is tried when it is loaded."""


AnyModel = TypeVar("AnyModel", ZooModel, EarlierModel, RecurrentTranslator, RecurrentLabeller)


class ModelUnavailable(LookupError):
    """A model cannot be loaded. The message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One folder of the zoo.

    Attributes:
        folder: where its files are.
        problem: a sentence that says why the model cannot be loaded; None if its files are in order.
        config: shape of the model; None if there is a problem, or if it is no transformer.
        earlier: shape of a model from before the transformer; None if it is none.
    """

    name: str
    problem: str | None
    config: ModelConfig | None
    folder: Path = field(default=Path(), compare=False)
    earlier: AnyEarlier | None = None


def catalogue(folder: Path | None = None) -> tuple[Entry, ...]:
    """All transformers in alphabetical order, damaged models included. Reads headers only.

    Args:
        folder: where to look; None: the shipped models and the reader's own, whose names cannot hide shipped ones.
    """
    return tuple(entry for entry in _all(folder) if entry.earlier is None)


def earlier(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the language models from before the transformer whose files are in order, in alphabetical order."""
    return tuple(entry.name for entry in _all(folder) if isinstance(entry.earlier, EarlierConfig))


def translators(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the recurrent translators whose files are in order, in alphabetical order."""
    return tuple(entry.name for entry in _all(folder) if isinstance(entry.earlier, Seq2SeqConfig))


def labellers(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the recurrent networks that label tokens and whose files are in order, in alphabetical order."""
    return tuple(entry.name for entry in _all(folder) if isinstance(entry.earlier, LabellerConfig))


def _all(folder: Path | None) -> tuple[Entry, ...]:
    places = {os.path.basename(path): path for place in folders(folder) for path in _in(place)}
    return tuple(_inspect(places[name], _stamp(places[name])) for name in sorted(places))


def folders(folder: Path | None = None) -> tuple[Path, ...]:
    """Where models are looked for; those of the last are preferred."""
    return (own_models(), MODELS) if folder is None else (folder,)


def _in(place: Path) -> list[str]:
    """The folders of models in a place. One that begins with a dot is still being written."""
    if not place.is_dir():
        return []
    with os.scandir(place) as found:
        return [entry.path for entry in found if entry.is_dir() and not entry.name.startswith(".")]


def _stamp(folder: str) -> tuple[tuple[int, int] | None, ...]:
    """Size and time of each of `FILES`. While they stay the same, what was read from the files is still true.

    Every reader who opens a page waits for this, so it asks for three files and reads no folder.
    """
    found: list[tuple[int, int] | None] = []
    for name in FILES:
        try:
            stat = os.stat(f"{folder}/{name}")
            found.append((stat.st_size, stat.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def available(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the transformers whose files are in order, in alphabetical order."""
    return tuple(entry.name for entry in catalogue(folder) if entry.problem is None)


def load(name: str, folder: Path | None = None) -> ZooModel:
    """Loads a model and tries it on a sentence, so that the reader's first one is as fast as the others.

    A large model is put on the GPU where there is one; see `model.device`.

    Raises:
        ModelUnavailable: there is no such model, its files are missing or damaged, they do not fit one another, or what
            the model computes is not finite.
    """
    from tfmviz.model.device import placed
    from tfmviz.zoo.files import read_module, read_tokenizer

    entry = _named(name, catalogue(folder))
    if (config := entry.config) is None:
        raise ModelUnavailable(f"{name} cannot be loaded: {entry.problem}")
    place = entry.folder
    return _tried(
        name,
        lambda: ZooModel(
            name=name, config=config, tokenizer=read_tokenizer(place, config), module=placed(read_module(place, config))
        ),
    )


def load_earlier(name: str, folder: Path | None = None) -> EarlierModel:
    """Loads a language model from before the transformer; see `load`.

    Raises:
        ModelUnavailable: as `load` does.
    """
    from tfmviz.zoo.files import read_earlier, read_tokenizer

    entry = _named(name, _all(folder), EarlierConfig)
    return _from_before(EarlierModel, entry, read_tokenizer, read_earlier)


def load_translator(name: str, folder: Path | None = None) -> RecurrentTranslator:
    """Loads a recurrent translator; see `load`.

    Raises:
        ModelUnavailable: as `load` does.
    """
    from tfmviz.zoo.files import read_house_tokenizer, read_seq2seq

    return _from_before(
        RecurrentTranslator, _named(name, _all(folder), Seq2SeqConfig), read_house_tokenizer, read_seq2seq
    )


def load_labeller(name: str, folder: Path | None = None) -> RecurrentLabeller:
    """Loads a recurrent network that labels tokens; see `load`.

    Raises:
        ModelUnavailable: as `load` does.
    """
    from tfmviz.zoo.files import read_house_tokenizer, read_labeller

    return _from_before(
        RecurrentLabeller, _named(name, _all(folder), LabellerConfig), read_house_tokenizer, read_labeller
    )


def with_copies(model: AnyModel) -> AnyModel:
    """The same model, faster for a program that only reads; see `model.linear.keep_copies`."""
    from tfmviz.model.linear import keep_copies

    keep_copies(model.module)
    return model


def _from_before(
    kind: Callable[..., AnyModel],
    entry: Entry,
    read_tokenizer: Callable[[Path, Any], object],
    read_module: Callable[[Path, Any], object],
) -> AnyModel:
    """A model from before the transformer."""
    place, config = entry.folder, entry.earlier
    return _tried(
        entry.name,
        lambda: kind(
            name=entry.name, config=config, tokenizer=read_tokenizer(place, config), module=read_module(place, config)
        ),
    )


def _named(name: str, entries: Iterable[Entry], kind: type | UnionType | None = None) -> Entry:
    """The entry of this name among those of a kind of model from before the transformer; None: among all."""
    found = {entry.name: entry for entry in entries if kind is None or isinstance(entry.earlier, kind)}
    if name not in found:
        raise ModelUnavailable(f"There is no model named {name!r}. There are: {', '.join(found) or 'none'}.")
    return found[name]


def _tried(name: str, read: Callable[[], AnyModel]) -> AnyModel:
    """The model that `read` reads, after it has been tried on a sentence."""
    try:
        model = read()
        if (site := model.trace(TRIAL).first_not_finite()) is not None:
            raise ValueError(f"what it computes on {TRIAL!r} is not finite at {site}.")
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelUnavailable(f"{name} cannot be loaded: {error}") from error
    return model


def written(name: str) -> int:
    """When the weights of a model were written, in nanoseconds since 1970; 0 if they are missing."""
    for place in reversed(folders()):
        with suppress(OSError):
            return (place / name / FILES[1]).stat().st_mtime_ns
    return 0


def weights_hash(name: str, folder: Path | None = None) -> str:
    """A hash by which the weights of a model, of any kind, are told from others; "" if they are missing."""
    places = [path for place in folders(folder) for path in _in(place) if os.path.basename(path) == name]
    path = Path(places[-1], FILES[1]) if places else Path()
    return _hash(path, path.stat().st_mtime_ns) if path.is_file() else ""


@lru_cache(maxsize=16)
def _hash(path: Path, stamp: int) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def vocabularies(folder: Path | None = None) -> dict[tuple[str, ...], Tokenizer | ForeignTokenizer]:
    """The different tokenizers of all available models, each under the names of the models that share it.

    One that cannot be read is left out.
    """
    from tfmviz.zoo.files import read_tokenizer

    same: dict[bytes, list[Entry]] = {}
    for entry in catalogue(folder):
        if entry.config is not None:
            same.setdefault((entry.folder / "tokenizer.json").read_bytes(), []).append(entry)
    found = {}
    for entries in same.values():
        with suppress(OSError, ValueError):
            assert entries[0].config is not None
            found[tuple(entry.name for entry in entries)] = read_tokenizer(entries[0].folder, entries[0].config)
    return found


@lru_cache(maxsize=256)
def _inspect(place: str, stamp: tuple[tuple[int, int] | None, ...]) -> Entry:
    """Checks what can be checked without torch: the config, the header of the weights, that there is a tokenizer."""
    folder = Path(place)
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        return Entry(folder.name, f"{missing[0]} is missing.", None, folder)
    try:
        config = read_config(json.loads((folder / "config.json").read_text(encoding="utf-8")))
        with safe_open(folder / "model.safetensors", framework="numpy"):
            pass  # opening checks the header against the size of the file
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        return Entry(folder.name, f"Its files are damaged ({error}).", None, folder)
    if isinstance(config, ModelConfig):
        return Entry(folder.name, None, config, folder)
    return Entry(folder.name, None, None, folder, config)
