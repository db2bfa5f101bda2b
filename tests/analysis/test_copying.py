"""Copying: against the full vocabulary × vocabulary circuit in numpy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.test_why import made
from tests.each import each
from tests.model.helpers import N_HEADS
from tfmviz import zoo
from tfmviz.analysis.why.copying import eigenvalue_scores, measured_scores


@each("name", ["pre", "post", "encoder", "rope translator"])
def test_the_score_is_that_of_the_full_circuit(name: str) -> None:
    _, trace, weights = made(name)
    for layer in trace.layers:
        found = eigenvalue_scores(weights, layer)
        stack = weights.stacks[layer.split(".")[0]]
        attention, last = stack.attention[layer], stack.readout.norm
        for head in range(N_HEADS):
            W_V = attention.W_V[head * len(attention.W_V) // N_HEADS].astype(np.float64)
            x, u = weights.W_E.astype(np.float64), weights.W_U.astype(np.float64)
            if last is not None:  # a norm centres and multiplies by γ, up to σ; the last one does the same
                norm = stack.norms[layer]
                x = (x - x.mean(-1, keepdims=True)) * norm.gain if norm.kind == "layer" else x * norm.gain
                u = u * last.gain
                u = u - u.mean(-1, keepdims=True) if last.kind == "layer" else u
            circuit = x @ W_V @ attention.W_O[head].astype(np.float64) @ u.T  # (vocab, vocab)
            values = np.linalg.eigvals(circuit)
            assert found[head] == pytest.approx(values.real.sum() / np.abs(values).sum(), abs=1e-6)


def test_induction_heads_copy_and_the_head_before_does_not() -> None:
    """Heads of the shipped model `induction` that copy random tokens have almost positive eigenvalues only."""
    weights = zoo.load("induction").weights
    assert eigenvalue_scores(weights, "decoder.1.self_attn")[:3].min() > 0.9
    assert eigenvalue_scores(weights, "decoder.0.self_attn").max() < 0


def test_the_measured_score_counts_tokens_that_are_raised() -> None:
    model = zoo.load("induction")
    trace, weights, layer = model.trace("The cat saw the cat."), model.weights, "decoder.1.self_attn"
    attention, readout = weights.attention(layer), weights.stacks["decoder"].readout
    assert readout.norm is not None
    found = measured_scores(trace, layer, weights)
    for head in range(4):
        copied = looked = 0.0
        for j, token in enumerate(trace.target.ids):
            written = trace[f"{layer}.v"][head, j].astype(np.float64) @ attention.W_O[head]
            moved = weights.W_U @ ((written - written.mean()) * readout.norm.gain)  # each word's logit, up to σ
            share = float(trace[f"{layer}.pattern"][head, :, j].sum())
            looked += share
            copied += share * (moved[token] > moved.mean())
        assert found[head] == pytest.approx(copied / looked, abs=1e-6)
