"""Limits on the files of a model, checked before they are read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOST_SETTINGS = 1e6
"""Bytes of the largest file of settings."""

MOST_JSON = 50e6
"""Bytes of the largest other file besides the weights; the largest tokenizers take 35 million."""

MOST_VALUES = 4e6
"""Values in the longest JSON file. Read, each takes up to 100 bytes. The largest vocabularies take 2.7 million."""

MOST_HEADER = 4e6
"""Bytes of the headers of all weights together: 30,000 tensors."""

MOST_COUNTED = 10_000
"""The largest number of a setting that transformers turns into a list of that length."""

COUNTED = re.compile(r".*layers?|num_labels|extra_ids")
"""Settings of which transformers makes a list."""

OURS = {
    "config.json": MOST_SETTINGS,
    "tokens.json": MOST_SETTINGS,
    "tokenizer.json": MOST_JSON,
    "target_tokenizer.json": MOST_JSON,
    "model.safetensors": math.inf,
}
"""The files of a folder of the zoo, and the most bytes of each."""


class Refused(ValueError):
    """A model that cannot be shown; the message says why and what to do instead."""


def check_folder(folder: Path) -> None:
    """Raises: Refused, if a file of a folder of the zoo is too large or unreadable."""
    for name, most in OURS.items():
        check_file(folder / name, most)
    check_headers([folder / "model.safetensors"])


def check_file(path: Path, most: float = MOST_JSON) -> None:
    """Checks a file, if there is one.

    Raises:
        Refused: it is no regular file, has more than `most` bytes, or is JSON of more than `MOST_VALUES` values.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise Refused(f"{path.name} is no regular file, so it is not read.")
    check_size(path.name, path.stat().st_size, most)
    if path.suffix == ".json" and (n_values := _count_values(path)) > MOST_VALUES:
        raise Refused(f"{path.name} holds {n_values:,} values, where {MOST_VALUES:,.0f} are the most that is read.")


def check_size(name: str, n_bytes: int, most: float) -> None:
    """Raises: Refused, if a file has more than `most` bytes."""
    if n_bytes > most:
        raise Refused(f"{name} has {n_bytes / 1e6:,.0f} MB, where {most / 1e6:,.0f} MB are the most that is read.")


def check_headers(paths: Iterable[Path]) -> None:
    """Raises: Refused, if the headers of weights are too long."""
    total = 0
    for path in paths:
        with path.open("rb") as file:
            n_bytes = int.from_bytes(file.read(8), "little")
        if n_bytes <= path.stat().st_size:  # else it is no such file, and the library says so
            total += n_bytes
        if total > MOST_HEADER:
            raise Refused(
                f"{path.name} lists its tensors in {total / 1e6:,.0f} MB, more than any model known here needs."
            )


def check_counts(settings: Any, name: str) -> None:
    """Raises: Refused, if settings ask for a list that would fill the memory."""
    if not isinstance(settings, dict):
        return
    for key, value in settings.items():
        check_counts(value, name)
        if COUNTED.fullmatch(key) and isinstance(value, int | float) and value > MOST_COUNTED:
            raise Refused(f"{key} = {value:,} in {name} is more than the {MOST_COUNTED:,} that are allowed.")


def read_json(path: Path) -> Any:
    """A JSON file of a checkpoint.

    Raises:
        Refused: it is no regular file, too large, or damaged.
        FileNotFoundError: there is none.
    """
    check_file(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:  # the last: brackets within brackets
        raise Refused(f"{path.name} is damaged ({error}).") from error


def _count_values(path: Path) -> int:
    """An upper bound: each value of a JSON file begins the file or follows one of these signs."""
    found = 1
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            found += sum(map(part.count, (b",", b"[", b"{")))
    return found
