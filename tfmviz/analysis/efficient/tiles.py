"""Exact attention in tiles with a running softmax (Milakov and Gimelshein 2018; Dao et al. 2022, FlashAttention).

Each query keeps the largest score so far, m, and the sum of exp(s − m), l. When a tile brings a larger score, the sums
so far are multiplied by exp(m_old − m_new).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfmviz import deadline
from tfmviz.analysis.efficient.exact import Cost
from tfmviz.record.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tile:
    """The state after one tile.

    Attributes:
        rows, columns: the queries and keys of this tile.
        largest, total: m and l, (n_rows,).
        factor: by which the sums so far were multiplied, (n_rows,).
        out: (n_rows, d), so far, divided by l.
    """

    rows: slice
    columns: slice
    largest: Array
    total: Array
    factor: Array
    out: Array


def tiles(
    q: Array, k: Array, v: Array, allowed: Array | None, size: int, *, bias: Array | None = None
) -> Iterator[Tile]:
    """Yields tiles of size × size, row by row, without those that are fully masked.

    Args:
        bias: (q_len, k_len), added to the scores.
    """
    for top in range(0, len(q), size):
        rows = slice(top, min(top + size, len(q)))
        n_rows = rows.stop - rows.start
        largest, total = np.full(n_rows, -np.inf), np.zeros(n_rows)
        out = np.zeros((n_rows, v.shape[1]), dtype=v.dtype)
        for left in range(0, len(k), size):
            deadline.check()
            columns = slice(left, min(left + size, len(k)))
            open_ = None if allowed is None else allowed[rows, columns]
            if open_ is not None and not open_.any():
                continue
            scores = q[rows] @ k[columns].T
            scores = scores if bias is None else scores + bias[rows, columns]
            scores = scores if open_ is None else np.where(open_, scores, -np.inf)
            new = np.maximum(largest, scores.max(axis=-1))
            base = np.where(np.isfinite(new), new, 0.0)  # 0 before the first allowed key
            factor = np.exp(largest - base)
            shares = np.exp(scores - base[:, None])
            total = total * factor + shares.sum(axis=-1)
            out = out * factor[:, None] + shares @ v[columns]
            largest = new
            done = out / np.where(total > 0, total, 1.0)[:, None]
            yield Tile(rows=rows, columns=columns, largest=largest, total=total, factor=factor, out=done)


def attend(
    q: Array, k: Array, v: Array, size: int, allowed: Array | None = None, *, bias: Array | None = None
) -> Array:
    """The output after the last tile of every row: (q_len, d)."""
    out = np.zeros((len(q), v.shape[1]), dtype=v.dtype)
    for tile in tiles(q, k, v, allowed, size, bias=bias):
        out[tile.rows] = tile.out
    return out


def cost(q_len: int, k_len: int, d: int, size: int) -> Cost:
    """As many products as exact attention, but one tile at a time."""
    height, width = min(size, q_len), min(size, k_len)
    return Cost(multiplications=2 * q_len * k_len * d, numbers=height * width + 2 * height)
