"""Losses on held-out text, measured by `scripts.evaluate` for shipped models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.ui import icons
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.words import markdown

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
        """Mean over the positions that the model was trained on."""
        return float(self.losses[: self.trained].mean())


def outdated(found: Mapping[str, Any], *others: str) -> bool:
    """True, with a note, if figures were measured with other weights than today's.

    Args:
        found: `weights`, their hashes by the models' names, and the `command` that measures.
        others: names of other files that have changed.
    """
    changed = [name for name, made_with in found["weights"].items() if zoo.weights_hash(name) != made_with]
    changed.extend(others)
    if changed:
        st.info(
            f"Measured with other weights of {', '.join(map(markdown.code, changed))}. Measure again: "
            f"{markdown.code(found['command'])}",
            icon=icons.INFO,
        )
    return bool(changed)


@cached_for_all
def by_position(name: str) -> ByPosition | None:
    """Losses of a model; None if it has not been measured."""
    path = MEASURED / f"{name}-by-position.json"
    if not path.is_file():
        return None
    measured = read_json(path)
    return ByPosition(losses=np.array(measured["loss"]), trained=measured["trained_length"])
