"""Laws of sinusoidal positions (Vaswani et al. 2017, section 3.5), checked on a model's table."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array


def shift_matrix(wavelengths: Array, shift: int) -> Array:
    """R_k with PE(pos + k) = R_k PE(pos) for every pos.

    Each pair (sin a, cos a) rotates by kω, ω = 2π / wavelength.

    Args:
        wavelengths: (d / 2,).

    Returns:
        (d, d): blocks [[cos kω, sin kω], [-sin kω, cos kω]] on the diagonal, 0 elsewhere.
    """
    angles = 2 * np.pi * shift / wavelengths
    evens = 2 * np.arange(len(angles))
    matrix = np.zeros((2 * len(angles), 2 * len(angles)))
    matrix[evens, evens] = matrix[evens + 1, evens + 1] = np.cos(angles)
    matrix[evens, evens + 1] = np.sin(angles)
    matrix[evens + 1, evens] = -np.sin(angles)
    return matrix


def shift_error(table: Array, matrix: Array, shift: int) -> float:
    """Largest difference between R_k PE(pos) and PE(pos + k), for a table (len, d), k < len."""
    return float(np.abs(table[: len(table) - shift] @ matrix.T - table[shift:]).max())


def products(table: Array) -> Array:
    """PE(p) · PE(q), (len, len). The diagonal is d / 2."""
    wide = table.astype(np.float64)
    return wide @ wide.T


def distances(table: Array) -> Array:
    """‖PE(p) - PE(q)‖, (len, len)."""
    dot = products(table)
    squared = np.diag(dot)[:, None] + np.diag(dot) - 2 * dot
    return np.sqrt(np.maximum(squared, 0.0))


def wave(positions: Array, wavelength: float, *, quarter: int = 0) -> Array:
    """sin(2π pos / wavelength), `quarter` quarter-turns ahead: 1 makes it the cosine."""
    return np.sin(2 * np.pi * positions / wavelength + quarter * np.pi / 2)


def far_from_first(table: Array) -> Array:
    """Distances from position 0's vector, (len,)."""
    return np.linalg.norm(table.astype(np.float64) - table[0], axis=-1)


def cosines(vectors: Array) -> Array:
    """Cosines between any two vectors, (n, n), in [-1, 1]; 0 if one of them is zero."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    unit = np.divide(wide, lengths, where=lengths > 0, out=np.zeros_like(wide))
    return np.clip(unit @ unit.T, -1.0, 1.0)
