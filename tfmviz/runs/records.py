"""The log of a run as columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.record.trace import Array
from tfmviz.training import log


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Records:
    """A run's updates as columns. Arrays are (update,) unless noted.

    Attributes:
        steps: updates done, from 1.
        evaluated: (evaluation,), updates done at each evaluation on held-out text.
        held_out: (evaluation,), nats per token.
        changed: (change,), updates done at each change of the highest learning rate.
        highest: (change,), the rate from then on.
    """

    steps: Array
    loss: Array
    learning_rate: Array
    grad_norm: Array
    tokens_per_second: Array
    evaluated: Array
    held_out: Array
    changed: Array
    highest: Array


def read_records(path: Path) -> Records:
    """The log at `path`; empty columns if there is none.

    Raises:
        LogError: a line is not the record of a step.
    """
    entries = log.read_log(path)
    looked, changed = ([entry for entry in entries if name in entry] for name in ("held_out_loss", "highest_rate"))
    return Records(
        steps=_column(entries, "step") + 1,
        loss=_column(entries, "loss"),
        learning_rate=_column(entries, "learning_rate"),
        grad_norm=_column(entries, "grad_norm"),
        tokens_per_second=_column(entries, "tokens_per_second"),
        evaluated=_column(looked, "step") + 1,
        held_out=_column(looked, "held_out_loss"),
        changed=_column(changed, "step"),
        highest=_column(changed, "highest_rate"),
    )


def _column(entries: list[dict[str, Any]], name: str) -> Array:
    """NaN for an entry without this number."""
    values = [entry.get(name) for entry in entries]
    return np.array([value if isinstance(value, int | float) else np.nan for value in values], dtype=np.float64)
