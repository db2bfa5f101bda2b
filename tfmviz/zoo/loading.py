"""Loading a model of any kind from its folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, overload

from safetensors import SafetensorError

from tfmviz.model.device import placed
from tfmviz.model.linear import keep_copies
from tfmviz.record.model import AnyModel
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo import TRIAL, Entry, ModelUnavailable, catalogue, everything
from tfmviz.zoo.files import read_earlier, read_module, read_tokenizer
from tfmviz.zoo.model import EarlierModel, Loaded, RecurrentLabeller, RecurrentTranslator, ZooModel

Kind = TypeVar("Kind", bound=Loaded[Any, Any])
Known = TypeVar("Known", bound=AnyModel)

KINDS: dict[str, type[Loaded[Any, Any]]] = {
    "window": EarlierModel,
    "rnn": EarlierModel,
    "ssm": EarlierModel,
    "seq2seq": RecurrentTranslator,
    "labeller": RecurrentLabeller,
}
"""Model classes by the architecture in the config; all others are transformers."""


@overload
def load(name: str, folder: Path | None = None) -> ZooModel: ...


@overload
def load(name: str, folder: Path | None = None, *, kind: type[Kind]) -> Kind: ...


def load(name: str, folder: Path | None = None, *, kind: type[Loaded[Any, Any]] = ZooModel) -> Loaded[Any, Any]:
    """Loads a model and tries it on a sentence. A large transformer goes to the GPU, if any.

    Args:
        folder: see `catalogue`.
        kind: `EarlierModel`, `RecurrentTranslator`, `RecurrentLabeller` or a transformer.

    Raises:
        ModelUnavailable: there is no such model of this kind, its files are missing or damaged, or its results are not
            finite.
    """
    entries = {entry.name: entry for entry in everything(folder) if issubclass(_kind_of(entry), kind)}
    if name not in entries:
        raise ModelUnavailable(
            f"There is no model named {name!r}. There are: {', '.join(entries) or 'none'}. A model of transformers is "
            "converted first: python -m tfmviz.huggingface FOLDER, or its name on the Hub."
        )
    if (problem := entries[name].problem) is not None:
        raise ModelUnavailable(f"{name} cannot be loaded: {problem}")
    try:
        model = _read(entries[name])
        if (site := model.trace(TRIAL).first_not_finite()) is not None:
            raise ValueError(f"what it computes on {TRIAL!r} is not finite at {site}.")
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelUnavailable(f"{name} cannot be loaded: {error}") from error
    return model


def with_copies(model: Known) -> Known:
    """The same model, faster for a program that only reads; see `model.linear.keep_copies`."""
    keep_copies(Loaded.behind(model).module)
    return model


def vocabularies(folder: Path | None = None) -> dict[tuple[str, ...], Tokenizer | ForeignTokenizer]:
    """The readable tokenizers of all available models, each under the names of the models that share it."""
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


def _kind_of(entry: Entry) -> type[Loaded[Any, Any]]:
    """A folder whose config cannot be read counts as a transformer's."""
    return ZooModel if entry.earlier is None else KINDS[entry.earlier.architecture]


def _read(entry: Entry) -> Loaded[Any, Any]:
    if (config := entry.config) is not None:
        tokenizer, module = read_tokenizer(entry.folder, config), placed(read_module(entry.folder, config))
        return ZooModel(name=entry.name, config=config, tokenizer=tokenizer, module=module)
    assert entry.earlier is not None
    return _kind_of(entry)(
        name=entry.name,
        config=entry.earlier,
        tokenizer=read_tokenizer(entry.folder, entry.earlier),
        module=read_earlier(entry.folder, entry.earlier),
    )
