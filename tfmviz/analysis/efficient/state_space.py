"""A state space model: a diagonal linear recurrence, which is also a convolution (Gu et al. 2022, S4 and S4D).

h_i = a h_{i−1} + b x_i and y_i = c · h_i, with one a, b and c for each component s of the state. Unrolled, y is x
convolved with the kernel K_t = Σ_s c_s (a_s)^t b_s.
"""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array


def decays(n_state: int, step: float) -> Array:
    """a_s = exp(−step · (s + 1)): S4D's real initialisation."""
    return np.exp(-step * np.arange(1, n_state + 1))


def recurrence(x: Array, a: Array, b: Array, c: Array) -> Array:
    """Token by token: (len, d) to (len, d), a state per coordinate."""
    h, out = np.zeros((len(a), x.shape[1])), np.empty(x.shape)
    for i, token in enumerate(x):
        h = a[:, None] * h + b[:, None] * token
        out[i] = c @ h
    return out


def kernel(n: int, a: Array, b: Array, c: Array) -> Array:
    """K_0 … K_{n−1}."""
    return (c * b) @ a[:, None] ** np.arange(n)


def convolution(x: Array, kernel: Array) -> Array:
    """All tokens in parallel, by zero-padded Fourier transforms: (len, d)."""
    n = len(x)
    product = np.fft.rfft(x, 2 * n, axis=0) * np.fft.rfft(kernel, 2 * n)[:, None]
    return np.fft.irfft(product, 2 * n, axis=0)[:n]


def remembered(states: Array, a: Array) -> Array:
    """Each token's share of the state: (len, len), rows are reading times.

    h_i = Σ_j a^{i − j} w_j, where w_j = h_j − a h_{j − 1} is what token j wrote. A share is the norm of one addend over
    the sum of all norms.

    Args:
        states: (len, component), h after each token.
        a: (component,), in (0, 1).
    """
    n = len(states)
    written = states - a * np.vstack([np.zeros_like(states[:1]), states[:-1]])
    found = np.zeros((n, n))
    for i in range(n):
        ages = np.arange(i, -1, -1)[:, None]
        lengths = np.linalg.norm(a**ages * written[: i + 1], axis=-1)
        found[i, : i + 1] = lengths / max(lengths.sum(), 1e-30)
    return found


def half_lives(a: Array) -> Array:
    """Tokens after which half of what was written is left."""
    return np.log(0.5) / np.log(a)
