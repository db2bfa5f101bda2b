"""The runs of `scripts.train_scaling`, and what is fitted to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmviz.analysis.law_fits import Fit, fit_additive
from tfmviz.places import PROJECT
from tfmviz.record.trace import Array
from tfmviz.ui.cache import shared

FILE = PROJECT / "assets" / "scaling" / "runs.json"

ALL, WITHOUT = "all", "without embeddings"

DRAWS = 400
"""Resamples of the runs, for the intervals."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Some runs, as columns.

    Attributes:
        n_parameters, n_embeddings: of the model, (run,).
        d: tokens that it was trained on, (run,).
        loss: on the held-out windows, nats per token, (run,).
        seed: (run,).
    """

    n_parameters: Array
    n_embeddings: Array
    d: Array
    loss: Array
    seed: Array

    def n(self, counted: str) -> Array:
        """Parameters, as `ALL` or `WITHOUT` counts them."""
        return self.n_parameters if counted == ALL else self.n_parameters - self.n_embeddings


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Grid:
    """All runs.

    Attributes:
        about: how they were trained, as the file says.
        fitted: the runs that laws are fitted to.
        larger: those of the largest model, which no fit sees.
    """

    about: dict[str, Any]
    fitted: Runs
    larger: Runs


@shared
def read() -> Grid | None:
    """The shipped runs; None if there are none."""
    try:
        about = json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    rows = about.pop("runs")
    larger = [row for row in rows if [row["width"], row["depth"]] == about["largest"]]
    return Grid(about=about, fitted=_columns([row for row in rows if row not in larger]), larger=_columns(larger))


def _columns(rows: Sequence[dict[str, float]]) -> Runs:
    def column(name: str) -> Array:
        return np.array([row[name] for row in rows], dtype=float)

    return Runs(
        n_parameters=column("parameters"),
        n_embeddings=column("embeddings"),
        d=column("tokens"),
        loss=column("loss"),
        seed=column("seed"),
    )


@shared
def fitted(counted: str) -> Fit:
    """L(N, D) of the shipped runs, with one way to count N. Both ways have the same resamples."""
    grid = read()
    assert grid
    return fit_additive(grid.fitted.n(counted), grid.fitted.d, grid.fitted.loss, draws=DRAWS)
