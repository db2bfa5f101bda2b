"""Normalisation: LayerNorm, RMSNorm and BatchNorm on a batch of sentences, and two older methods.

A batch is (sentence, token, dim), with padding after the shorter sentences. The learned γ and β are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tfmviz.constants import NORM_EPS
from tfmviz.record.trace import Array
from tfmviz.record.weights import Norm


def padded(sentences: Sequence[Array]) -> tuple[Array, Array]:
    """Sentences, each (len, dim), as a batch.

    Returns:
        (sentence, longest, dim), 0 in the padding, and (sentence, longest): True where there is a token.
    """
    longest = max(map(len, sentences))
    batch = np.zeros((len(sentences), longest, sentences[0].shape[1]), dtype=np.float64)
    for row, vectors in zip(batch, sentences, strict=True):
        row[: len(vectors)] = vectors
    return batch, np.arange(longest) < np.array([[len(vectors)] for vectors in sentences])


def layer_norm(x: Array) -> Array:
    """(x − μ) / √(σ² + ε) with μ, σ² over the last axis, each token's coordinates (Ba et al. 2016)."""
    return _plain("layer", x)


def rms_norm(x: Array) -> Array:
    """x / √(mean x² + ε) over the last axis (Zhang & Sennrich 2019)."""
    return _plain("rms", x)


def _plain(kind: Literal["layer", "rms"], x: Array) -> Array:
    """γ = 1, β = 0."""
    return Norm(kind=kind, gain=np.ones(x.shape[-1]), bias=np.zeros(x.shape[-1]), eps=NORM_EPS)(x)


def batch_statistics(x: Array, counted: Array) -> tuple[Array, Array]:
    """μ and σ² of each coordinate over all tokens of all sentences: (dim,) each.

    Args:
        counted: (sentence, token), True where a token counts.
    """
    rows = x[counted]  # (n, dim)
    return rows.mean(axis=0), rows.var(axis=0)


def batch_norm(x: Array, mean: Array, variance: Array) -> Array:
    """(x − μ) / √(σ² + ε) with one μ and σ² per coordinate (Ioffe & Szegedy 2015): the `batch_statistics` in training,
    stored averages of them afterwards.
    """
    return (x - mean) / np.sqrt(variance + NORM_EPS)


def change(before: Array, after: Array) -> Array:
    """Relative change of each vector, ‖x' − x‖ / ‖x‖ over the last axis; 0 if both are 0."""
    moved, length = np.linalg.norm(after - before, axis=-1), np.linalg.norm(before, axis=-1)
    return np.divide(moved, length, where=length > 0, out=np.zeros_like(moved))


def standardised(column: Array) -> Array:
    """(x − μ) / σ: mean 0, standard deviation 1. All 0 if all are equal."""
    spread = column.std()
    return (column - column.mean()) / (spread if spread > 0 else 1.0)


def min_max(column: Array) -> Array:
    """(x − min) / (max − min): from 0 to 1. All 0 if all are equal."""
    spread = np.ptp(column)
    return (column - column.min()) / (spread if spread > 0 else 1.0)
