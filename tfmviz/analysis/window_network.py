"""A fixed-window network taken apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array
from tfmviz.record.weights import WindowWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Network:
    """One pass through the network, in double precision.

    Attributes:
        e: (place, d_model), the vectors in the window, in order; zeros where there is no token.
        W: (place, d_hidden, d_model), a block per position.
        b_1: (d_hidden,).
        h: (d_hidden,), tanh of b_1 plus all contributions.
        U: (vocab, d_hidden).
        logits: (vocab,).
    """

    e: Array
    W: Array
    b_1: Array
    h: Array
    U: Array
    logits: Array

    def added(self) -> Array:
        """W_p e_p, the contributions before tanh: (place, d_hidden)."""
        return np.einsum("pud,pd->pu", self.W, self.e)

    def elsewhere(self, place: int) -> Array:
        """The contributions of one vector at each of the positions: (place, d_hidden)."""
        return self.W @ self.e[place]

    def of_words(self, unit: int) -> Array:
        """A unit's contribution to every logit: (vocab,)."""
        return self.U[:, unit] * self.h[unit]


def network(weights: WindowWeights, e: Array) -> Network:
    """One window taken apart; e: (place, d_model)."""
    W, b_1, U, b_2, e = (
        np.asarray(part, dtype=np.float64) for part in (weights.W, weights.b_1, weights.U, weights.b_2, e)
    )
    h = np.tanh(W @ e.ravel() + b_1)
    blocks = W.reshape(len(W), *e.shape).swapaxes(0, 1)  # (place, d_hidden, d_model)
    return Network(e=e, W=blocks, b_1=b_1, h=h, U=U, logits=U @ h + b_2)


def n_numbers(n_window: int, d_model: int, d_hidden: int) -> int:
    return n_window * d_model * d_hidden
