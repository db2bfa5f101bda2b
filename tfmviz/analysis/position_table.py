"""A trained table of positions: its main directions, and which of its rows training has reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array

GROWN = 1.5
"""A row counts as trained if it is at least this many times as long as a random one is on average. The lengths of
random rows of 128 numbers have a standard deviation of 6 %."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Components:
    """Principal components of a table.

    Attributes:
        scores: (len, n), where each row lies along each direction, the most important first.
        shares: (n,), share of the rows' variance that each direction carries, descending.
    """

    scores: Array
    shares: Array


def principal_components(table: Array, *, n: int = 3) -> Components:
    """The `n` directions along which the rows of (len, d) differ most, by the singular values of the centred table.

    Signs are chosen so that the score of largest magnitude in each component is positive.
    """
    centred = table.astype(np.float64) - table.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    scores = u[:, :n] * s[:n]
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])])
    return Components(scores=scores * np.where(signs == 0, 1, signs), shares=(s**2 / max((s**2).sum(), 1e-30))[:n])


def lengths(table: Array) -> Array:
    """Euclidean length of each row, (len,)."""
    return np.linalg.norm(table.astype(np.float64), axis=-1)


def first_length(d: int, *, std: float) -> float:
    """Average length of a row of `d` random numbers of this standard deviation, std · √d."""
    return std * float(np.sqrt(d))


def untrained(table: Array, *, std: float) -> Array:
    """Rows that are hardly longer than random ones, ascending."""
    return np.flatnonzero(lengths(table) < GROWN * first_length(table.shape[1], std=std))


def smoothed(values: Array, *, window: int) -> Array:
    """Mean of each value and its neighbours, `window` values in all (fewer at the ends), (len,)."""
    sums = np.convolve(values, np.ones(window), mode="same")
    counts = np.convolve(np.ones(len(values)), np.ones(window), mode="same")
    return sums / counts
