"""Attention across layers: how much of each token has reached each position, if attention were all there is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.trace import Array


def rollout(patterns: Sequence[Array], masks: Sequence[Array]) -> tuple[Array, Array]:
    """Attention rollout (Abnar & Zuidema 2020, section 3): the product of the layers' patterns.

    Each layer passes on half of what stands at a position (the residual connection) and half of what its heads look
    at, averaged:

        R = (½I + ½Ā_L) … (½I + ½Ā_1),   Ā_l = mean over heads

    Args:
        patterns: per layer (head, len, len), the lowest first; at least one.
        masks: per layer (len, len), True = may attend.

    Returns:
        (len, len) R, whose rows sum to 1 where every row of every pattern does, and (len, len) bool: True where some
        path of allowed looks leads from the query to the key.
    """
    here = np.eye(patterns[0].shape[-1])
    mixed, reached = here, here.astype(bool)
    for pattern, mask in zip(patterns, masks, strict=True):
        mixed = (here + pattern.mean(axis=0, dtype=np.float64)) / 2 @ mixed
        reached = (mask | (here > 0)) @ reached
    return mixed, reached
