"""Linformer: keys and values are projected along the text to a fixed number of rows (Wang et al. 2020, section 4).

softmax(q (E k)ᵀ) (E v), with E of (rows, k_len). The paper trains E; here it is mean pooling. In a causal head a row
would mix in later tokens.
"""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.efficient.exact import Cost, softmax
from tfmviz.record.trace import Array


def pooling(k_len: int, rows: int) -> Array:
    """E, (rows, k_len): each row is the mean of neighbouring tokens, as equally many as possible."""
    row = np.arange(k_len) * rows // k_len
    mixed = (row == np.arange(rows)[:, None]).astype(float)
    return mixed / mixed.sum(axis=-1, keepdims=True)


def pattern(q: Array, k: Array, rows: int) -> Array:
    """Each query's weight on each token by way of the rows: (q_len, k_len)."""
    E = pooling(len(k), rows)
    return softmax(q @ (E @ k).T) @ E


def attend(q: Array, k: Array, v: Array, rows: int) -> Array:
    """No matrix is larger than (k_len, rows): (q_len, d)."""
    E = pooling(len(k), rows).astype(k.dtype)
    return softmax(q @ (E @ k).T) @ (E @ v)


def cost(q_len: int, k_len: int, d: int, rows: int) -> Cost:
    """E k and E v, then attention to the rows."""
    return Cost(multiplications=2 * (q_len + k_len) * rows * d, numbers=q_len * rows + 2 * rows * d)


def best(pattern: Array, rank: int) -> Array:
    """The nearest matrix of this rank (Eckart and Young 1936)."""
    left, sizes, right = np.linalg.svd(pattern, full_matrices=False)
    return (left[:, :rank] * sizes[:rank]) @ right[:rank]


def shares(pattern: Array) -> Array:
    """Cumulative shares of the squared singular values."""
    squares = np.linalg.svd(pattern, compute_uv=False) ** 2
    return np.cumsum(squares) / squares.sum()
