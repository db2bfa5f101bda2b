"""Synthetic sequences that need no corpus."""

from __future__ import annotations

import numpy as np


def repeated_random(rng: np.random.Generator, *, period: int, length: int, vocab_size: int) -> np.ndarray:
    """A random segment, over and over: w_1 … w_p w_1 … w_p w_1 …

    Nothing but looking back to the last occurrence predicts the next token, which is what an induction head does
    (Olsson et al. 2022).

    Args:
        period: tokens in the segment.
        length: tokens returned.
        vocab_size: indices are drawn uniformly from 1 … vocab_size - 1; 0 is the mark between documents.

    Returns:
        (length,), int64.
    """
    segment = rng.integers(1, vocab_size, size=period)
    return np.resize(segment, length)
