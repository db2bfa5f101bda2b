"""Copying by a head: by its weights alone, and on a text (Elhage et al. 2021)."""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.attention_layer import grouped
from tfmviz.analysis.why.composition import through_norm
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import ModelWeights, StackWeights


def eigenvalue_scores(weights: ModelWeights, layer: str) -> Array:
    """Σ λ / Σ |λ| over the eigenvalues λ of each head's circuit M = W_E W_V W_O W_U from token to logits: (head,).

    1: the head raises whatever token it looks at; −1: it lowers it. The non-zero eigenvalues are those of W_O W_U W_E
    W_V, d_head × d_head. Centring and γ of norms belong to the matrices.
    """
    stack = weights.stacks["decoder" if layer.startswith("decoder") else "encoder"]
    attention = stack.attention[layer]
    W_V = through_norm(stack, layer, grouped(attention.W_V, len(attention.W_Q))).astype(np.float64)
    read = attention.W_O_carried.astype(np.float64) @ directions(stack).T  # (head, d_head, vocab)
    small = read @ weights.W_E.astype(np.float64) @ W_V  # (head, d_head, d_head)
    found = np.linalg.eigvals(small)
    sizes = np.abs(found).sum(axis=-1)
    return np.divide(found.real.sum(axis=-1), sizes, where=sizes > 0, out=np.full(len(small), np.nan))


def directions(stack: StackWeights) -> Array:
    """W_U with the centring and γ of the last norm, (vocab, d_model), up to σ."""
    norm, W_U = stack.readout.norm, stack.readout.W_U.astype(np.float64)
    return W_U if norm is None else norm.centred(W_U * norm.gain)


def measured_scores(trace: Trace, layer: str, weights: ModelWeights) -> Array:
    """The share of each head's attention on tokens whose own logit their value raises above the mean: (head,).

    About ½ for a head that writes at random.
    """
    stack = weights.stacks[layer.split(".")[0]]
    attention, keys = stack.attention[layer], trace.axes(layer)[1]
    pattern = trace[f"{layer}.pattern"].astype(np.float64)
    written = (
        grouped(trace[f"{layer}.v"], len(pattern)).astype(np.float64) @ attention.W_O_carried
    )  # (head, key, d_model)
    rows = directions(stack)
    own = rows[list(keys.ids)] - rows.mean(axis=0)  # (key, d_model)
    raises = np.einsum("hkm,km->hk", written, own) > 0
    looked = pattern.sum(axis=1)  # (head, key)
    return (looked * raises).sum(axis=1) / looked.sum(axis=1)
