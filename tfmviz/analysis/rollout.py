"""Attention rollout across layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.record.trace import Array


def rollout(patterns: Sequence[Array], masks: Sequence[Array]) -> tuple[Array, Array]:
    """Attention rollout (Abnar & Zuidema 2020, section 3): the product of the layers' patterns.

    A layer passes on half of a position's content and half of what its heads attend to:

        R = (½I + ½Ā_L) … (½I + ½Ā_1),   Ā_l = mean over heads

    Args:
        patterns: (head, len, len) for each layer, in order; at least one.
        masks: (len, len) for each layer.

    Returns:
        (len, len) R, whose rows sum to 1 if those of all patterns do, and (len, len): True where the masks allow a path
        from query to key.
    """
    here = np.eye(patterns[0].shape[-1])
    mixed, reached = here, here.astype(bool)
    for pattern, mask in zip(patterns, masks, strict=True):
        mixed = (here + pattern.mean(axis=0, dtype=np.float64)) / 2 @ mixed
        reached = (mask | (here > 0)) @ reached
    return mixed, reached
