"""A converted model as a folder of the zoo: whole or not there, with one tensor in memory at a time."""

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
"""Number formats by safetensors' names."""

PARTIAL = ".converting-"
"""Prefix of an unfinished folder, and of its lock."""


@contextmanager
def new_folder(place: Path, name: str) -> Iterator[Path]:
    """A folder to write a model into, which moves to its place when all is done and is removed if anything fails.

    Until then it lies in a folder that begins with a dot, so that the app does not list it. A process that is killed
    leaves that behind, but not the lock next to it, by which the next one knows that it can go.

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
    """The folder that goes with a lock, until the end of the block, when both are removed. Raises: Timeout."""
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

    The header stands before the numbers but is known only after them, since a folded tensor is float32 where the others
    are float16. So there is room for the longest possible header, and spaces fill the rest, as the format allows.

    Args:
        say: called with the number of tensors written so far.
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
    """The header of a safetensors file, with a length that is a multiple of 8."""
    listed = {
        name: {"dtype": kind, "shape": list(shape), "data_offsets": list(place)}
        for name, (kind, shape, place) in entries.items()
    }
    text = json.dumps({"__metadata__": {"format": "pt"}, **listed}, separators=(",", ":")).encode()
    return text.ljust(-(-len(text) // 8) * 8)
