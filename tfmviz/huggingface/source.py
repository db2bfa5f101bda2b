"""The tensors of a checkpoint, by name and one at a time, from safetensors files or from a model in memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from copy import copy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol, Self

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from tfmviz.record.facts import MAX_EXPERTS
from tfmviz.zoo.files import are_finite
from tfmviz.zoo.limits import Refused as Refused
from tfmviz.zoo.limits import check_file, check_headers, read_json

READABLE = {"F32": 4, "F16": 2, "BF16": 2}
"""Number formats that are read, and the bytes of each."""

OLD_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
"""Names of the same tensors in files of 2018 and 2019."""


class Store(Protocol):
    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...

    def read(self, name: str, at: int | None = None) -> Tensor:
        """A tensor, or the one at an index of those stacked in it.

        Raises:
            Refused: it holds other than finite floating-point numbers.
        """
        ...


class Memory:
    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tensors = tensors
        self.shapes = {name: tuple(value.shape) for name, value in tensors.items()}

    def read(self, name: str, at: int | None = None) -> Tensor:
        value = self._tensors[name]
        return _checked(name, (value if at is None else value[at]).detach().cpu())


class Shapes:
    """Tensors without numbers."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = shapes

    def read(self, name: str, at: int | None = None) -> Tensor:
        return torch.empty(self.shapes[name][at is not None :], device="meta")


class Files:
    """The tensors of safetensors files, whose headers are checked first.

    Raises:
        Refused: a file is missing, cut off or lies about its shapes; it holds an unknown format; a shard is outside the
            folder, or two hold the same tensor.
    """

    def __init__(self, folder: Path) -> None:
        self._open = ExitStack()
        self._file_of: dict[str, safe_open] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.n_bytes = 0
        for path in listed(folder):
            self._add(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @property
    def n_numbers(self) -> int:
        """Numbers in all tensors; tied ones count as often as they are stored."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def read(self, name: str, at: int | None = None) -> Tensor:
        stored = self._file_of[name].get_slice(name)  # type: ignore[no-untyped-call]
        return _checked(name, stored[:] if at is None else stored[at])

    def _add(self, path: Path) -> None:
        try:
            file = self._open.enter_context(safe_open(path, framework="pt"))  # checks sizes against the header
        except (SafetensorError, OSError) as error:
            raise Refused(f"{path.name} is damaged or cut off ({error}). Fetch it again.") from error
        self.n_bytes += path.stat().st_size
        for name in file.keys():  # noqa: SIM118  (this is not a dictionary)
            if name in self._file_of:
                raise Refused(f"Two files of the checkpoint hold {name}, so it is not clear which is meant.")
            stored = file.get_slice(name)
            shape, kind = tuple(stored.get_shape()), stored.get_dtype()
            if kind not in READABLE and not kind.startswith(("I", "U", "BOOL")):
                raise Refused(f"{name} holds {kind} numbers; those that are read are {', '.join(READABLE)}.")
            self._file_of[name], self.shapes[name] = file, shape


def _checked(name: str, value: Tensor) -> Tensor:
    """Raises: Refused, if not all are finite floating-point numbers."""
    if not value.is_floating_point():
        raise Refused(f"{name} holds {value.dtype} numbers, so the weights are quantised.")
    if not are_finite(value):
        raise Refused(f"Not all numbers in {name} are finite.")
    return value


def in_one_line(error: Exception) -> str:
    """An error's message in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


def listed(folder: Path) -> list[Path]:
    """The same, once their headers are known to be short. Raises: Refused."""
    paths = shards(folder)
    try:
        check_headers(paths)
    except FileNotFoundError as error:
        name = Path(error.filename).name
        raise Refused(f"{name} is missing, which the index of the checkpoint names.") from error
    return paths


def shards(folder: Path) -> list[Path]:
    """A checkpoint's safetensors files.

    Raises:
        Refused: there are none, or the index names one outside the folder.
    """
    index = folder / "model.safetensors.index.json"
    if (folder / "model.safetensors").is_file() and not index.is_file():
        return [folder / "model.safetensors"]
    if not index.is_file():
        raise Refused(_without_safetensors(folder))
    try:
        names = sorted(set(read_json(index)["weight_map"].values()))
    except (OSError, KeyError, AttributeError, TypeError) as error:
        raise Refused(f"{index.name} is damaged ({error}).") from error
    for name in names:
        if not isinstance(name, str) or Path(name).name != name or "\\" in name or not name.endswith(".safetensors"):
            raise Refused(f"{index.name} names the file {name!r}, which is not a safetensors file in its folder.")
        check_file(folder / name, math.inf)
    return [folder / name for name in names]


def _without_safetensors(folder: Path) -> str:
    if any(folder.glob("*.bin")):
        return (
            f"{folder} has weights in .bin files only. These may run code when they are opened, so they are not read. "
            'If you trust them, write them anew:\n    python -c "from transformers import AutoModel; '
            f"AutoModel.from_pretrained('{folder}').save_pretrained('{folder}-safe')\"\n"
            "with the class of your model (AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM), and "
            "copy the tokenizer's files beside them."
        )
    return f"{folder} holds no weights: there is no model.safetensors in it."


class Source:
    """The tensors by a family's names. It remembers which were asked for.

    Args:
        prefix: stands before the names; checkpoints without a head lack it.
        left_out: patterns of tensors that are not needed.
        stacked: ends of names of tensors that hold all experts': "experts.down_proj" holds "experts.down_proj.0.weight"
            …, "experts.down_proj_bias" their biases.
    """

    def __init__(
        self, store: Store, *, prefix: str = "", left_out: Iterable[str] = (), stacked: tuple[str, ...] = ()
    ) -> None:
        self._store = store
        self._names: dict[str, str] = {}
        self._place: dict[str, int] = {}
        for name in store.shapes:
            short = name.removeprefix(prefix)
            if short in self._names:
                raise Refused(f"The checkpoint holds both {name} and {self._names[short]}; only one can be meant.")
            is_stack = short.endswith(stacked) and len(shape := store.shapes[name]) > 1 and shape[0] <= MAX_EXPERTS
            self._names |= self._of_stack(short, name) if is_stack else {short: name}
        for new, old in OLD_NAMES.items():
            self._names = {name.replace(old, new): stored for name, stored in self._names.items()}
        self._left_out = tuple(left_out)
        self._asked: set[str] = set()

    def _of_stack(self, short: str, name: str) -> dict[str, str]:
        """Names of the tensors stacked in one, all with its name in the file."""
        kind = "bias" if short.endswith("_bias") else "weight"
        stem, (n, *_) = short.removesuffix("_bias").removesuffix(".weight"), self._store.shapes[name]
        self._place |= (found := {f"{stem}.{at}.{kind}": at for at in range(n)})
        return dict.fromkeys(found, name)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Tensor:
        """The tensor as stored. Raises: Refused."""
        if name not in self._names:
            raise Refused(f"The checkpoint lacks {name}. It may be damaged, or of a kind that is not known here.")
        self._asked.add(name)
        return self._store.read(self._names[name], self._place.get(name))

    def shape(self, name: str) -> tuple[int, ...]:
        """Raises: Refused, if there is no such tensor."""
        if name not in self._names:
            raise Refused(f"The checkpoint lacks {name}. It may be damaged, or of a kind that is not known here.")
        return self._store.shapes[self._names[name]][name in self._place :]

    def without_numbers(self) -> Source:
        """The same tensors by their shapes, with a separate memory of requests."""
        found = copy(self)
        found._store, found._asked = Shapes(self._store.shapes), set(self._asked)
        return found

    def same(self, name: str, other: str) -> bool:
        """True if two tensors are equal, as tied ones stored twice."""
        return self.shape(name) == self.shape(other) and bool(torch.equal(self[name], self[other]))

    @property
    def left_over(self) -> list[str]:
        """Tensors that nobody asked for, except for `left_out`."""
        rest = [name for name in self._names if name not in self._asked]
        return sorted(name for name in rest if not any(fnmatchcase(name, pattern) for pattern in self._left_out))
