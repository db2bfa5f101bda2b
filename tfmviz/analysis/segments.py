"""Attention between the parts of a text, such as two sentences or the turns of a chat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.record.trace import Array


def parts(segments: Sequence[str]) -> tuple[str, ...]:
    """The parts in order; tokens named "" belong to none."""
    return tuple(name for name in dict.fromkeys(segments) if name)


def between(pattern: Array, segments: Sequence[str]) -> Array:
    """Attention from part to part, (head, from, to).

        share(A → B) = 1/|A| · Σ_{q in A} Σ_{k in B} pattern[q, k]

    Parts are in the order of `parts`. The rest of a row goes to tokens of no part.

    Args:
        pattern: (head, len, len).
    """
    among = np.array(segments)[None] == np.array(parts(segments))[:, None]  # (part, len)
    sums = among @ pattern.astype(np.float64) @ among.T  # (head, from, to)
    return sums / among.sum(axis=1)[:, None]
