"""Losses on held-out text, position by position, as `scripts.evaluate` has measured them for shipped models."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.ui.cache import shared

MEASURED = zoo.MODELS.parent / "training"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ByPosition:
    """One model's losses.

    Attributes:
        losses: (position,), nats per token, means over the same passages for all models; past `trained` too.
        trained: the longest text in training, in tokens.
    """

    losses: Array
    trained: int

    @property
    def mean(self) -> float:
        """Over the positions that the model was trained on."""
        return float(self.losses[: self.trained].mean())


@shared
def by_position(name: str) -> ByPosition | None:
    """Of the model with this name; None if it has not been measured."""
    path = MEASURED / f"{name}-by-position.json"
    if not path.is_file():
        return None
    measured = json.loads(path.read_text(encoding="utf-8"))
    return ByPosition(losses=np.array(measured["loss"]), trained=measured["trained_length"])
