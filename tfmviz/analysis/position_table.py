"""A trained position table: its main directions, and the rows that training reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array

GROWN = 1.5
"""Norm of a trained row, relative to the average of random ones."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Components:
    """Principal components of a table.

    Attributes:
        scores: (len, n), by decreasing variance.
        shares: (n,), of the variance along each direction.
    """

    scores: Array
    shares: Array


def principal_components(table: Array, *, n: int = 3) -> Components:
    """The first `n` principal components of (len, d).

    In each component the score of largest magnitude is positive.
    """
    centred = table.astype(np.float64) - table.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    scores = u[:, :n] * s[:n]
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])])
    return Components(scores=scores * np.where(signs == 0, 1, signs), shares=(s**2 / max((s**2).sum(), 1e-30))[:n])


def lengths(table: Array) -> Array:
    """Norm of each row, (len,)."""
    return np.linalg.norm(table.astype(np.float64), axis=-1)


def first_length(d: int, *, std: float) -> float:
    """Average norm of a random row, std · √d."""
    return std * float(np.sqrt(d))


def untrained(table: Array, *, std: float) -> Array:
    """Rows hardly longer than random ones, ascending."""
    return np.flatnonzero(lengths(table) < GROWN * first_length(table.shape[1], std=std))


def smoothed(values: Array, *, window: int) -> Array:
    """Moving average over `window` values (fewer at the ends), (len,)."""
    sums = np.convolve(values, np.ones(window), mode="same")
    counts = np.convolve(np.ones(len(values)), np.ones(window), mode="same")
    return sums / counts
