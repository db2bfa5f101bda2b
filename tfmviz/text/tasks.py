"""Synthetic sequences that need no corpus."""

from __future__ import annotations

import numpy as np


def repeated_random(rng: np.random.Generator, *, length: int, vocab_size: int) -> np.ndarray:
    """A random segment, over and over: w_1 … w_p w_1 … w_p w_1 …

    The period p is drawn too, from 4 to length / 2 with equal chances on a logarithmic scale: short ones repeat often
    and are learned first.

    Nothing but looking back to the last occurrence predicts the next token, which is what an induction head does
    (Olsson et al. 2022).

    Args:
        length: tokens returned, at least 8.
        vocab_size: indices are drawn uniformly from 1 … vocab_size - 1; 0 is the mark between documents.

    Returns:
        (length,), int64.
    """
    period = int(np.exp(rng.uniform(np.log(4), np.log(length / 2))))
    segment = rng.integers(1, vocab_size, size=period)
    return np.resize(segment, length)
