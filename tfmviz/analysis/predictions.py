"""Next-word predictions from logits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array


@dataclass(frozen=True, slots=True)
class Prediction:
    index: int
    probability: float


def softmax(logits: Array) -> Array:
    """exp(x_i) / Σ exp(x_j) over the last axis, in float64."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def top_predictions(logits: Array, k: int) -> tuple[Prediction, ...]:
    probabilities = softmax(logits)
    k = min(k, len(logits))
    likely = np.flatnonzero(logits >= np.partition(logits, -k)[-k])  # faster than sorting the vocabulary
    order = likely[np.argsort(-logits[likely], kind="stable")][:k]
    return tuple(Prediction(int(index), float(probabilities[index])) for index in order)
