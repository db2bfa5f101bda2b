"""Three naive position encodings, and measurements of their flaws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.record.trace import Array


def alikeness(vectors: Array, positions: Array) -> float:
    """Mean cosine between different words with the same position.

    Args:
        vectors: (n, d), n ≥ 2 different words.
        positions: (d or more,), added to each; coordinates past d are appended.
    """
    wide = np.pad(vectors.astype(np.float64), ((0, 0), (0, len(positions) - vectors.shape[1]))) + positions
    unit = wide / np.linalg.norm(wide, axis=-1, keepdims=True)
    cosines = unit @ unit.T
    return float(cosines[np.triu_indices(len(vectors), k=1)].mean())


def alike_with_index(vectors: Array, indices: Sequence[int]) -> Array:
    """`alikeness` with the index as one more coordinate: (len(indices),)."""
    d = vectors.shape[1]
    return np.array([alikeness(vectors, np.concatenate((np.zeros(d), [index]))) for index in indices])


def fractions(length: int) -> Array:
    """index / (N - 1), (length,). A single word is at 0."""
    return np.arange(length) / max(length - 1, 1)


def binary(length: int, n_bits: int) -> Array:
    """Binary positions, (length, n_bits); bit b, from the right, changes every 2^b positions."""
    return np.arange(length)[:, None] >> np.arange(n_bits) & 1


def steps(table: Array) -> Array:
    """Distance between the vectors of neighbouring positions, (length - 1,)."""
    return np.linalg.norm(np.diff(table.astype(np.float64), axis=0), axis=-1)
