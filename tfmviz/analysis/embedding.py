"""The vocabulary as vectors: look-up, neighbours, and a projection onto a plane."""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array


def looked_up(W_E: Array, index: int) -> Array:
    """The product of a one-hot vector with W_E, computed in full: row `index`, (d_model,)."""
    one_hot = np.zeros(len(W_E), dtype=W_E.dtype)
    one_hot[index] = 1
    return one_hot @ W_E


def cosines_to(W_E: Array, index: int) -> Array:
    """Cosines between every row of W_E and one of them: (vocab,); NaN for a row of zeros."""
    lengths = np.linalg.norm(W_E, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return W_E @ W_E[index] / (lengths * lengths[index])


def nearest(W_E: Array, index: int, *, n: int) -> Array:
    """The n other entries with the largest cosines, in decreasing order."""
    cosines = np.nan_to_num(cosines_to(W_E, index), nan=-np.inf)
    cosines[index] = -np.inf
    order = np.argsort(-cosines, kind="stable")[:n]
    return order[np.isfinite(cosines[order])]


def plane(W_E: Array) -> tuple[Array, Array]:
    """The rows of W_E on their first two principal components (Pearson 1901).

    Returns:
        (vocab, 2), the projections, the largest positive on each axis; (2,), their shares of the variance.
    """
    centred = W_E.astype(np.float64) - W_E.mean(axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    places = centred @ directions[:, :-3:-1]
    places *= np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])
    return places, variances[:-3:-1] / variances.sum()
