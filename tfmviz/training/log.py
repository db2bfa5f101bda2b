"""The log of a run, `log.jsonl`: one JSON object per line and step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmviz.training.files import replacing


class LogError(ValueError):
    """A log cannot be read."""


def append(path: Path, entry: Mapping[str, Any]) -> None:
    """Adds a line.

    Raises:
        OSError: there is no room; the line may then be truncated.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise OSError(f"{path} cannot be written ({error}).") from error


def read_log(path: Path) -> list[dict[str, Any]]:
    """All entries; none if there is no log. A truncated last line is dropped.

    Raises:
        LogError: another line is not an entry.
    """
    if not path.exists():
        return []
    *lines, _cut_off = path.read_bytes().split(b"\n")
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            if not isinstance(entry, dict) or not isinstance(entry.get("step"), int):
                raise ValueError("it names no step")
        except (ValueError, RecursionError) as error:
            raise LogError(
                f"Line {number} of {path} is not the record of a step ({error}). Delete the line or the file to go on; "
                "the weights do not depend on it."
            ) from error
        entries.append(entry)
    return entries


def keep_before(path: Path, step: int) -> None:
    """Drops the entries after an interrupted run's last checkpoint.

    Raises:
        LogError: the log cannot be read.
        OSError: it cannot be written.
    """
    if path.exists():
        kept = "".join(json.dumps(entry) + "\n" for entry in read_log(path) if entry["step"] < step)
        with replacing(path) as (temporary,):
            temporary.write_text(kept, encoding="utf-8")


def totals(path: Path, *, steps: int) -> tuple[int, float] | None:
    """Tokens and seconds of the first steps; None if the log lacks some.

    Raises:
        LogError: the log cannot be read.
    """
    entries = read_log(path)[:steps]
    if [entry["step"] for entry in entries] != list(range(steps)):
        return None
    try:
        seconds = sum(entry["tokens"] / entry["tokens_per_second"] for entry in entries)
        return sum(entry["tokens"] for entry in entries), seconds
    except (KeyError, TypeError, ZeroDivisionError):
        return None
