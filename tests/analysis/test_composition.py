"""Composition against whole matrices, its baseline against a law, removed paths against torch's hooks, and values."""

from itertools import product

import numpy as np
import pytest
import torch

from tests.analysis.test_stream import made as with_stack
from tests.analysis.test_why import read_without
from tests.cases import each
from tests.model.helpers import inputs_of
from tests.model.helpers import record as run
from tests.model.sizes import N_HEADS
from tfmviz import zoo
from tfmviz.analysis import contributions
from tfmviz.analysis.why.composition import WAYS, Way, by_chance, compositions, removals
from tfmviz.analysis.why.writes import by_key, pushes
from tfmviz.record.trace import Array
from tfmviz.record.weights import StackWeights


def whole(weights: StackWeights, layer: str, head: int) -> dict[str, Array]:
    """W_Q W_Kᵀ and W_V W_O as d_model × d_model matrices in float64, with the norm before them."""
    attention = weights.attention[layer]
    kv_head = head * len(attention.W_K) // N_HEADS
    into = np.eye(attention.W_Q.shape[1])
    if weights.readout.norm is not None:
        norm = weights.norms[layer]
        into = (into - into.mean(axis=1, keepdims=True) if norm.kind == "layer" else into) * norm.gain
    Q, K, V = (into @ W.astype(float) for W in (attention.W_Q[head], attention.W_K[kv_head], attention.W_V[kv_head]))
    write = attention.W_O[head].astype(float) * (1 if attention.out_norm is None else attention.out_norm.gain)
    return {"Q": Q @ K.T, "K": K @ Q.T, "V": V @ write}


@each("way", WAYS)
@each("name", ["pre", "post", "rms", "both", "post translator"])
def test_composition_is_that_of_the_whole_matrices(name: str, way: Way) -> None:
    weights = with_stack(name)[3]
    found = compositions(weights, way)
    assert [layer.split(".")[1] for layer, _ in found.heads] == ["0"] * N_HEADS + ["1"] * N_HEADS
    for (row, (earlier, head)), (column, (later, reader)) in product(enumerate(found.heads), repeat=2):
        value = found.values[row, column]
        if earlier >= later:
            assert np.isnan(value)
            continue
        A, B = whole(weights, earlier, head)["V"], whole(weights, later, reader)[way]
        expected = np.linalg.norm(A @ B) / (np.linalg.norm(A) * np.linalg.norm(B))
        assert value == pytest.approx(expected, rel=1e-4)
        assert 0 <= value <= 1


@each("d_model", [32, 128])
def test_random_heads_compose_like_random_directions(d_model: int) -> None:
    """E ‖A B‖² = ‖A‖² ‖B‖² / d_model where directions are random."""
    low, mean, high = by_chance(d_model, 8)
    assert mean == pytest.approx(d_model**-0.5, rel=0.03)
    assert low < mean < high


@each("way", WAYS)
@each("name", ["pre", "rms", "encoder", "parallel"])
def test_without_the_path_a_head_reads_all_but_what_the_other_wrote(name: str, way: Way) -> None:
    module, trace, stack, weights = with_stack(name)
    source, layer = f"{stack}.0.self_attn", f"{stack}.1.self_attn"
    edits = removals(trace, (source, 2), (layer, 1), way, weights)
    ours = run(module, *inputs_of(module.config.architecture, batch=1), edits=edits)
    theirs = read_without(name, layer, 1, way, trace[f"{source}.z"][2] @ weights.attention[source].W_O[2])
    for site in (f"{layer}.pattern", "logits"):
        torch.testing.assert_close(ours[site], theirs[site], rtol=1e-4, atol=1e-4)
    assert (ours["logits"][0] - torch.tensor(trace["logits"])).abs().max() > 1e-3


@each("name", ["pre", "post", "both", "encoder", "rope translator", "post translator"])
def test_values_sum_to_the_heads_share_of_every_words_logit(name: str) -> None:
    _, trace, stack, weights = with_stack(name)
    river = contributions.river(trace, stack, 4, weights)
    for layer, head in ((f"{stack}.0.self_attn", 1), (f"{stack}.1.self_attn", 2)):
        found = pushes(trace, layer, head, 4, weights=weights, raised=3, lowered=2)
        part = next(n for n, part in enumerate(river.parts) if (part.site, part.head) == (layer, head))
        for word, column in zip(found.words, found.by_key.T, strict=True):
            whole_score = contributions.attribution(river, weights, weights.readout.W_U[word]).scores[part]
            assert column.sum() == pytest.approx(whole_score, abs=1e-5)
        totals = found.by_key.sum(axis=0)
        assert totals.tolist() == sorted(totals, reverse=True)
        writes = by_key(trace, layer, head, 4, weights.attention[layer])
        np.testing.assert_allclose(writes.sum(axis=0), river.parts[part].write, atol=1e-5)


def test_masked_keys_write_nothing_and_induction_heads_read_the_head_before() -> None:
    _, trace, _, weights = with_stack("pre")
    found = pushes(trace, "decoder.1.self_attn", 0, 4, weights=weights, raised=2, lowered=2)
    assert not found.by_key[5:].any()
    assert found.by_key[:5].any(axis=1).all()
    all_heads = compositions(zoo.load("induction").weights.stacks["decoder"], "K")
    assert np.nanargmax(all_heads.values.max(axis=1, where=np.isfinite(all_heads.values), initial=0)) == 2
    assert (all_heads.values[2, 4:7] > 1.9 * all_heads.by_chance[2]).all()
