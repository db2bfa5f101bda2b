"""How a stream becomes scores: the norms with their weights, and the matrix that turns a vector into logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfmviz.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Norm:
    """One normalisation with its trained weights: centred(x) / σ(x) · γ + β over each token's d_model numbers.

    "layer" is LayerNorm: centred(x) = x − μ and σ = √(mean((x − μ)²) + ε). "rms" is RMSNorm: centred(x) = x and
    σ = √(mean(x²) + ε), β = 0.

    Attributes:
        gain: γ, (d_model,).
        bias: β, (d_model,).
    """

    kind: Literal["layer", "rms"]
    gain: Array
    bias: Array
    eps: float

    def __call__(self, x: Array) -> Array:
        """(…, d_model), normalised."""
        return self.centred(x) / self.scale(x) * self.gain + self.bias

    def centred(self, x: Array) -> Array:
        """x − μ, or x itself in RMSNorm."""
        return x - x.mean(axis=-1, keepdims=True) if self.kind == "layer" else x

    def scale(self, x: Array) -> Array:
        """σ, (…, 1)."""
        return np.sqrt((self.centred(x) ** 2).mean(axis=-1, keepdims=True) + self.eps)

    def carry(self, x: Array, *, at: Array) -> Array:
        """What becomes of a part x of the vector `at` that the model normalised here: centred(x) / σ(at) · γ.

        With σ held at its measured value the norm is linear (plus β), so each part of a sum gets a share of its own
        (Elhage et al. 2021, "Handling layer normalization"; Wang et al. 2022, section 3).
        """
        return self.centred(x) / self.scale(at) * self.gain

    def pull_back(self, direction: Array, *, at: Array) -> Array:
        """The direction g' with g' · x = g · carry(x), for every x.

        Args:
            direction: g, (d_model,).
            at: (d_model,), what the model normalised here.
        """
        return self.centred(self.gain * direction) / self.scale(at)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Readout:
    """From a stream to logits: the last norm, then W_U.

    Attributes:
        norm: None in a post-norm model, whose layers end with norms of their own.
        W_U: (vocab, d_model).
    """

    norm: Norm | None
    W_U: Array

    def logits(self, x: Array) -> Array:
        """(…, d_model) to (…, vocab)."""
        return (x if self.norm is None else self.norm(x)) @ self.W_U.T


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StackWeights:
    """The matrices that accounts of one stack need.

    Attributes:
        W_O: per attention layer, such as "decoder.0.self_attn": (head, d_head, d_model).
        b_O: per attention layer, (d_model,).
        norms: per layer, feed-forward layers too, the norm around it.
    """

    W_O: dict[str, Array]
    b_O: dict[str, Array]  # noqa: N815
    norms: dict[str, Norm]
    readout: Readout
