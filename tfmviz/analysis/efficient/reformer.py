"""Reformer: queries meet only keys in the same hash bucket (Kitaev et al. 2020, section 2).

A random rotation R hashes a direction x to arg max([x R; −x R]), so similar directions tend to share a bucket. In the
paper queries equal keys; here they differ.
"""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.efficient.exact import Cost, softmax
from tfmviz.record.trace import Array


def buckets(x: Array, n_buckets: int, *, rounds: int = 1, seed: int = 0) -> Array:
    """The bucket of each vector in each round: (round, len).

    Args:
        n_buckets: even, or 1.
    """
    if n_buckets == 1:
        return np.zeros((rounds, len(x)), dtype=int)
    R = np.random.default_rng(seed).standard_normal((rounds, x.shape[1], n_buckets // 2)).astype(x.dtype)
    turned = x @ R  # (round, len, n_buckets / 2)
    return np.concatenate((turned, -turned), axis=-1).argmax(axis=-1)


def meet(q_buckets: Array, k_buckets: Array) -> Array:
    """Pairs that share a bucket in some round: (q_len, k_len), bool."""
    return (q_buckets[:, :, None] == k_buckets[:, None, :]).any(axis=0)


def caught(pattern: Array, kept: Array, strongest: int) -> float:
    """The share of every query's strongest keys among the pairs kept."""
    order = np.argsort(-pattern, axis=-1, kind="stable")[:, :strongest]
    counts = np.take_along_axis(pattern, order, axis=-1) > 0
    return float(np.take_along_axis(kept, order, axis=-1)[counts].mean())


def attend(q: Array, k: Array, v: Array, n_buckets: int, *, seed: int = 0) -> Array:
    """One round without a mask, bucket by bucket: (q_len, d). A query whose bucket holds no key meets all keys.

    The paper instead cuts the sorted text into equal chunks.
    """
    of_q, of_k = (buckets(x, n_buckets, seed=seed)[0] for x in (q, k))
    out = np.zeros((len(q), v.shape[1]), dtype=v.dtype)
    for bucket in np.unique(of_q):
        mine, theirs = np.flatnonzero(of_q == bucket), np.flatnonzero(of_k == bucket)
        theirs = theirs if len(theirs) else np.arange(len(k))
        out[mine] = softmax(q[mine] @ k[theirs].T) @ v[theirs]
    return out


def cost(pairs: int, vectors: int, d: int, n_buckets: int, *, rounds: int = 1) -> Cost:
    """Hashing all queries and keys, then the pairs that meet.

    Args:
        vectors: number of queries and keys.
    """
    hashing = rounds * vectors * d * (n_buckets // 2)
    return Cost(multiplications=hashing + 2 * pairs * d, numbers=pairs + rounds * vectors)
