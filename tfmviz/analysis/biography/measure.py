"""Each head's attention to each kind of key, text by text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.biography.kinds import beyond_first
from tfmviz.analysis.heads import alignment
from tfmviz.record.trace import Array

FAR = 8
"""Larger distances are counted together."""

KEPT = 20
"""Examples kept per head, each from another text."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tally:
    """Sums over one text's queries with a choice beyond the first key, for each head of a layer.

    w_i = Σ_{j>0} a_ij is a head's attention beyond the first key.

    Attributes:
        mass: (head, kind), Σ_i Σ_j a_ij over the cells of a kind.
        room: (head, kind), Σ_i w_i over the queries that have a key of that kind.
        even: (head, kind), the mass of an even spread: Σ_i w_i · (its keys / all keys) over the same.
        first: (head,), Σ_i a_i0.
        rest: (head,), Σ_i w_i.
        sharp: (head,), Σ_i max_{j>0} a_ij.
        shared: (head,), Σ_i Σ_j min(a_ij, w_i / number of keys beyond the first).
        aligned: (head,), `heads.alignment` of the whole pattern; NaN for texts of one token.
        queries: their number.
        with_kind: (kind,), that of those with a key of that kind.
        distances: (head, 2 FAR + 3), mass by i − j: below −FAR, −FAR … FAR, above.
        best: (head,), the largest a_ij among at least four keys, at `query` and `key`.
    """

    mass: Array
    room: Array
    even: Array
    first: Array
    rest: Array
    sharp: Array
    shared: Array
    aligned: Array
    queries: int
    with_kind: Array
    distances: Array
    best: Array
    query: Array
    key: Array


def tally(pattern: Array, mask: Array, cells: Array, *, chosen: Array | None = None) -> Tally | None:
    allowed = beyond_first(mask) if chosen is None else beyond_first(mask) & chosen[:, None]
    if not (rows := allowed.any(axis=1)).any():
        return None
    allowed, cells = allowed[rows], (cells & allowed)[:, rows]
    whole = pattern[:, rows].astype(np.float64)
    a = np.where(allowed, whole, 0)
    w, n_keys = a.sum(axis=-1), allowed.sum(axis=-1)  # (head, query), (query,)
    n_cells = cells.sum(axis=-1)  # (kind, query)
    has_kind = (n_cells > 0).astype(np.float64)
    spread = (w / n_keys)[..., None] * allowed
    queries = np.nonzero(rows)[0]
    telling = n_keys >= min(4, n_keys.max())  # among two or three keys a large share says little
    flat = np.where(telling[:, None], a, 0).reshape(len(a), -1)
    best = flat.argmax(axis=1)
    return Tally(
        mass=np.einsum("hqk,cqk->hc", a, cells.astype(np.float64), optimize=True),
        room=w @ has_kind.T,
        even=w @ (n_cells / n_keys).T,
        first=whole[:, :, 0].sum(axis=1),
        rest=w.sum(axis=1),
        sharp=a.max(axis=-1).sum(axis=1),
        shared=np.minimum(a, spread).sum(axis=(1, 2)),
        aligned=alignment(pattern),
        queries=len(queries),
        with_kind=has_kind.sum(axis=1),
        distances=_by_distance(a, queries),
        best=flat.max(axis=1),
        query=queries[best // pattern.shape[2]],
        key=best % pattern.shape[2],
    )


def _by_distance(a: Array, queries: Array) -> Array:
    back = np.clip(queries[:, None] - np.arange(a.shape[2]), -FAR - 1, FAR + 1) + FAR + 1
    return np.stack([np.bincount(back.ravel(), head.ravel(), minlength=2 * FAR + 3) for head in a])
