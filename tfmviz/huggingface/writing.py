"""A converted model as a folder of the zoo."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import torch
from filelock import FileLock, Timeout
from torch import Tensor

KINDS = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
"""safetensors' names of formats."""

PARTIAL = ".converting-"
"""Prefix of an unfinished folder, and of its lock."""


@contextmanager
def new_folder(place: Path, name: str) -> Iterator[Path]:
    """A folder to write a model into, which moves to its place when all is done, or is removed.

    Until then its name begins with a dot, so that the app does not list it. A killed process leaves it behind, but
    without a lock, so the next one removes it.

    Raises:
        OSError: there is no room, or the folder cannot be made.
    """
    place.mkdir(parents=True, exist_ok=True)
    for lock in place.glob(f"{PARTIAL}*.lock"):
        with suppress(Timeout), _partial(lock, timeout=0):
            pass
    with _partial(place / f"{PARTIAL}{uuid4().hex}.lock", timeout=-1) as hidden:
        (hidden / name).mkdir(parents=True)
        yield hidden / name
        (hidden / name).rename(place / name)


@contextmanager
def _partial(lock: Path, *, timeout: float) -> Iterator[Path]:
    """A lock's folder; both are removed at the end. Raises: Timeout."""
    hidden = lock.with_suffix("")
    with FileLock(lock, timeout=timeout):
        try:
            yield hidden
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
            with suppress(OSError):  # Windows removes a lock itself when it is released
                lock.unlink()


def write_weights(
    path: Path,
    values: Iterable[tuple[str, Tensor]],
    *,
    shapes: Mapping[str, tuple[int, ...]],
    say: Callable[[int], None] = lambda n: None,
) -> None:
    """Writes a safetensors file one tensor after another.

    The header comes first but is known last, since folded tensors are float32: spaces fill the room kept for the
    longest.

    Args:
        say: told the number of tensors written.
    """
    room = len(_header({name: ("BF16", shape, (10**15, 10**15)) for name, shape in shapes.items()}))
    entries: dict[str, tuple[str, tuple[int, ...], tuple[int, int]]] = {}
    with path.open("wb") as file:
        file.seek(8 + room)
        first = 0
        for name, value in values:
            data = value.contiguous().view(torch.uint8).numpy()
            file.write(data.data)
            entries[name] = (KINDS[value.dtype], tuple(value.shape), (first, first + data.nbytes))
            first += data.nbytes
            say(len(entries))
        file.seek(0)
        file.write(room.to_bytes(8, "little") + _header(entries).ljust(room))
        file.flush()
        os.fsync(file.fileno())


def _header(entries: Mapping[str, tuple[str, tuple[int, ...], tuple[int, int]]]) -> bytes:
    """A safetensors header, with a length that is a multiple of 8."""
    listed = {
        name: {"dtype": kind, "shape": list(shape), "data_offsets": list(place)}
        for name, (kind, shape, place) in entries.items()
    }
    text = json.dumps({"__metadata__": {"format": "pt"}, **listed}, separators=(",", ":")).encode()
    return text.ljust(-(-len(text) // 8) * 8)
