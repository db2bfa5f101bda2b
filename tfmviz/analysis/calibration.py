"""Calibration: the agreement of a model's probabilities with its accuracy (Guo et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array

BINS = 10
"""Bins of equal width from 0 to 1."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reliability:
    """A model's guesses, binned by probability; NaN in an empty bin.

    Attributes:
        count: (bin,), guesses.
        confidence: (bin,), their mean probability.
        accuracy: (bin,), share of right ones.
    """

    count: Array
    confidence: Array
    accuracy: Array

    @property
    def error(self) -> float:
        """The expected calibration error: Σ n_b / n · |accuracy_b − confidence_b|, in [0, 1]."""
        full = self.count > 0
        gaps = np.abs(self.accuracy[full] - self.confidence[full])
        return float((self.count[full] * gaps).sum() / self.count.sum())


def reliability(confidence: Array, is_right: Array, *, bins: int = BINS) -> Reliability:
    """Bins guesses; 1 belongs to the last bin.

    Args:
        confidence: (n,), the probability of each guess.
        is_right: (n,), bool.
    """
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(place, weights=values, minlength=bins) / count for values in (confidence, is_right)]
    return Reliability(count=count, confidence=means[0], accuracy=means[1])


def log_softmax(logits: Array, *, temperature: float = 1.0) -> Array:
    """log P of every entry, at a temperature: (…, vocab), float64."""
    scaled = logits.astype(np.float64) / temperature
    scaled -= scaled.max(axis=-1, keepdims=True)
    return scaled - np.log(np.exp(scaled).sum(axis=-1, keepdims=True))
