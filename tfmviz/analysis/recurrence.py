"""Vanishing gradients in a recurrent layer, and sequential steps of layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array
from tfmviz.record.weights import RecurrentWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Steps:
    reset: Array
    update: Array
    candidate: Array
    hidden: Array


def jacobian(weights: RecurrentWeights, at: Steps, t: int) -> Array:
    """∂h_t / ∂h_{t-1} with the inputs held, (d_hidden, d_hidden), for t ≥ 1.

    With a = W_hn h_{t-1} + b_hn:

        ∂n/∂h = diag(1 - n²) (diag(r) W_hn + diag(a ⊙ r ⊙ (1 - r)) W_hr)
        ∂h_t/∂h_{t-1} = diag(z) + diag(1 - z) ∂n/∂h + diag((h_{t-1} - n) ⊙ z ⊙ (1 - z)) W_hz
    """
    r, z, n = at.reset[t], at.update[t], at.candidate[t]
    before = at.hidden[t - 1]
    W_hr, W_hz, W_hn = weights.W_h
    a = W_hn @ before + weights.b_h[2]
    of_candidate = (r * (1 - n**2))[:, None] * W_hn + (a * r * (1 - r) * (1 - n**2))[:, None] * W_hr
    of_update = ((before - n) * z * (1 - z))[:, None] * W_hz
    return np.diag(z) + (1 - z)[:, None] * of_candidate + of_update


def products(weights: RecurrentWeights, x: Array, before: Array, unit: int) -> tuple[Array, Array]:
    """The sums of products behind r, z and n of one unit, before σ, σ and tanh.

    Returns:
        (3, d_in + d_hidden), x and then h_{t-1} times their weights, and (3,), the biases. The state's part of n is
        multiplied by r.
    """
    of_x, of_h = weights.W_x[:, unit] * x, weights.W_h[:, unit] * before
    b_x, b_h = weights.b_x[:, unit], weights.b_h[:, unit].copy()
    r = 1 / (1 + np.exp(-(of_x[0].sum() + of_h[0].sum() + b_x[0] + b_h[0])))
    of_h[2] *= r
    b_h[2] *= r
    return np.concatenate((of_x, of_h), axis=1), b_x + b_h


def fading(weights: RecurrentWeights, at: Steps) -> Array:
    """‖∂h_t / ∂h_1‖ / ‖∂h_1 / ∂h_1‖ in the Frobenius norm, for t = 1, 2 …: (len,)."""
    product = np.eye(at.hidden.shape[1])
    norms = [1.0]
    for t in range(1, len(at.hidden)):
        product = jacobian(weights, at, t) @ product
        norms.append(float(np.linalg.norm(product)) / np.sqrt(len(product)))
    return np.array(norms)


WIDTH = 3
"""Width of a causal convolution's kernel, in tokens."""


def steps_of_recurrence(n_layers: int, length: int) -> Array:
    """Sequential steps before each state is known: (layer, position).

    h of layer l at position t takes l + t + 1, both counted from 0.
    """
    return np.arange(n_layers)[:, None] + np.arange(length)[None] + 1


def steps_of_layers(n_layers: int, length: int) -> Array:
    """The same if a layer computes all positions in parallel: (layer, position)."""
    return np.broadcast_to(np.arange(1, n_layers + 1)[:, None], (n_layers, length))


def reach_of_convolution(n_layers: int, *, width: int = WIDTH) -> Array:
    """Earlier tokens that each layer of a stack sees: (layer,)."""
    return (width - 1) * np.arange(1, n_layers + 1)
