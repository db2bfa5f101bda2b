"""Requests to a running training run: another highest learning rate, in the file `rate` of its folder.

Needs no torch.
"""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

from tfmviz.training.files import replacing

RATE = "rate"


def want_rate(folder: Path, rate: float) -> None:
    """Asks for another highest learning rate from the next update on.

    Raises:
        ValueError: it is not a positive number.
        OSError: it cannot be written.
    """
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"A learning rate is a positive number, not {rate!r}.")
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / RATE) as (place,):
        place.write_text(repr(rate), encoding="utf-8")


def wanted_rate(folder: Path) -> float | None:
    """The rate asked for; None if there is no valid request."""
    with suppress(OSError, ValueError):
        rate = float((folder / RATE).read_text(encoding="utf-8"))
        if math.isfinite(rate) and rate > 0:
            return rate
    return None
