"""One word in two contexts: similarity of its vectors, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.analysis import residual
from tfmviz.record.trace import Array, Trace


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class InContext:
    """Cosines at each stage of the stream.

    Attributes:
        stages: the embedding, then each layer.
        each_other: (stage,), between the two tokens' vectors.
        static: (2, stage), of each with its token's embedding, without positions.
        usual: (stage,), the mean over all pairs of different tokens; NaN if there are none. In one layer all vectors
            are often similar (Ethayarajh 2019).
    """

    stages: tuple[str, ...]
    each_other: Array
    static: Array
    usual: Array


def in_context(trace: Trace, stack: str, ids: Sequence[int], pair: tuple[int, int]) -> InContext:
    """Compares two tokens' vectors.

    Args:
        ids: of the tokens in the stack.
        pair: positions of the two.
    """
    sites = residual.stages(trace, stack, "layers")
    embedding = next(site for site in (f"{stack}.widened", "embed", f"{stack}.embed") if site in trace)
    static = _directions(trace[embedding])
    vectors = np.stack([_directions(trace[site]) for site in sites.values()])  # (stage, len, d_model)
    first, second = pair
    return InContext(
        stages=tuple(sites),
        each_other=(vectors[:, first] * vectors[:, second]).sum(axis=-1),
        static=np.stack([vectors[:, at] @ static[at] for at in pair]),
        usual=_between_different(vectors, ids),
    )


def _between_different(vectors: Array, ids: Sequence[int]) -> Array:
    """The mean product of two vectors of different tokens, (stage,), in linear time."""
    _, firsts, counts = np.unique(np.sort(ids), return_index=True, return_counts=True)
    n_pairs = len(ids) ** 2 - int((counts**2).sum())
    if not n_pairs:
        return np.full(len(vectors), np.nan)
    alike = np.add.reduceat(vectors[:, np.argsort(ids, kind="stable")], firsts, axis=1)  # (stage, token, d_model)
    whole = vectors.sum(axis=1)
    found: Array = ((whole**2).sum(axis=-1) - (alike**2).sum(axis=(1, 2))) / n_pairs
    return found


def again(ids: Sequence[int], at: int) -> int | None:
    """The next position of the same token, wrapping around."""
    turned = [*range(at + 1, len(ids)), *range(at)]
    return next((other for other in turned if ids[other] == ids[at]), None)


def _directions(vectors: Array) -> Array:
    vectors = vectors.astype(np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
