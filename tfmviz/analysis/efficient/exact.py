"""Exact attention of one head, and the costs of all methods (Vaswani et al. 2017, section 3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """The cost of a method for one head.

    Attributes:
        numbers: values held in memory besides q, k, v and the result.
    """

    multiplications: int
    numbers: int


def softmax(scores: Array) -> Array:
    """Rows that sum to 1; −∞ becomes 0."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def pattern(q: Array, k: Array, allowed: Array | None = None) -> Array:
    """softmax(q kᵀ) over the allowed keys: (q_len, k_len)."""
    scores = q @ k.T
    return softmax(scores if allowed is None else np.where(allowed, scores, -np.inf))


def attend(q: Array, k: Array, v: Array) -> Array:
    """The pattern times the values: (q_len, d)."""
    return pattern(q, k) @ v


def cost(q_len: int, k_len: int, d: int) -> Cost:
    return Cost(multiplications=2 * q_len * k_len * d, numbers=q_len * k_len)


def pattern_error(exact: Array, other: Array) -> float:
    """The share of attention on other keys: ½ Σ_j |p_ij − p'_ij|, mean over the queries."""
    return float(np.abs(exact - other).sum(axis=-1).mean() / 2)


def output_error(exact: Array, other: Array) -> float:
    """‖z − z'‖ / ‖z‖, over all queries together."""
    return float(np.linalg.norm(exact - other)) / max(float(np.linalg.norm(exact)), 1e-12)
