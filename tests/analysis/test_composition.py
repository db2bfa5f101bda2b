"""Composition, subspaces and sinks: whole matrices, projections, baselines, and paths that torch's hooks remove."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import tfmviz
from tests.analysis.test_stream import made as with_stack
from tests.analysis.test_why import attention_at, made, read_without
from tests.cases import each
from tests.model.helpers import inputs_of, lively_model
from tests.model.helpers import record as run
from tests.model.sizes import D_HEAD, N_HEADS
from tests.records import trace_of
from tests.traces import decoder
from tfmviz import zoo
from tfmviz.analysis import contributions
from tfmviz.analysis.why import subspaces
from tfmviz.analysis.why.composition import WAYS, Way, by_chance, compositions, removals
from tfmviz.analysis.why.sinks import sinks, without_value
from tfmviz.analysis.why.writes import by_key, pushes
from tfmviz.model.weights import weights_of
from tfmviz.record.trace import Array, Trace, kind_of
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


def projection(W: np.ndarray) -> np.ndarray:
    """On the columns of W."""
    return W @ np.linalg.pinv(W)


def test_one_known_angle_and_what_feed_forward_layers_read_most() -> None:
    one = np.eye(3)[:, :2]
    other = np.array([[1, 0], [0, np.cos(0.3)], [0, np.sin(0.3)]])
    np.testing.assert_allclose(np.arccos(subspaces.cosines(one, other)), [0, 0.3], atol=1e-7)
    weights = tfmviz.load("tiny-english").weights.stacks["decoder"]
    mlps, values = subspaces.overlaps_with_mlps(weights)
    n_heads = len(values) // len(mlps)
    for column, mlp in enumerate(mlps):
        assert np.isnan(values[(column + 1) * n_heads :, column]).all()
        assert np.isfinite(values[: (column + 1) * n_heads, column]).all()
        W = weights.feed_forward[mlp].W_in.astype(float) * weights.norms[mlp].gain[:, None]
        U, _, _ = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)
        written = weights.attention[f"decoder.{column}.self_attn"].W_O[1].astype(float).T
        read = U[:, : written.shape[1]]
        expected = np.trace(projection(written) @ read @ read.T) / written.shape[1]
        assert values[column * n_heads + 1, column] == pytest.approx(expected, abs=1e-4)
    assert subspaces.overlaps_with_mlps(tfmviz.load("induction").weights.stacks["decoder"])[0] == ()


@each("d_model, d_head", [(64, 16), (96, 8)])
def test_random_subspaces_share_their_part_of_all_directions(d_model: int, d_head: int) -> None:
    low, mean, high = subspaces.by_chance(d_model, d_head)
    rng = np.random.default_rng(5)
    drawn = [np.trace(np.matmul(*map(projection, rng.normal(size=(2, d_model, d_head))))) for _ in range(60)]
    assert np.mean(drawn) / d_head == pytest.approx(mean, rel=0.03)
    assert low < mean < high


@each("name", ["twins-rope", "twins-gqa"])
def test_every_pair_is_the_trace_of_two_projections(name: str) -> None:
    """The norm before a layer takes the mean away and multiplies by γ: both belong to what is read."""
    weights = tfmviz.load(name).weights.stacks["decoder"]
    found = subspaces.overlaps(weights, "K")
    for row, column in ((0, 5), (2, 13), (7, 9)):
        (earlier, head), (later, reader) = found.heads[row], found.heads[column]
        attention, norm = weights.attention[later], weights.norms[later]
        W_K = norm.gain[:, None] * attention.W_K[reader * len(attention.W_K) // len(attention.W_Q)].astype(float)
        if np.abs(norm(np.full((1, len(W_K)), 3.0)) - norm.bias).max() < 1e-3:
            W_K = W_K - W_K.mean(axis=0)  # a norm that takes the mean away
        written = weights.attention[earlier].W_O[head].astype(float).T
        both = projection(written) @ projection(W_K)
        assert found.values[row, column] == pytest.approx(np.trace(both) / written.shape[1], abs=1e-4)
        angle = subspaces.smallest_angle(weights, found.heads[row], found.heads[column], "K")
        assert np.cos(np.radians(angle)) == pytest.approx(np.linalg.svd(both, compute_uv=False)[0], abs=1e-4)
    assert np.isnan(found.values[5, 0])


@each("name", ["pre", "post", "encoder", "rope translator", "post translator"])
def test_shares_and_lengths_are_those_counted_by_hand(name: str) -> None:
    _, trace, weights = made(name)
    for kind in dict.fromkeys(map(kind_of, trace.layers)):
        found = sinks(trace, weights, kind)
        for (row, layer), head in product(enumerate(found.layers), range(N_HEADS)):
            pattern, v = trace[f"{layer}.pattern"], trace[f"{layer}.v"]
            first_query = 1 if kind == "decoder.self_attn" else 0  # a decoder's first token sees itself alone
            assert found.shares[row, head] == pytest.approx(pattern[head, first_query:, 0].mean(), rel=1e-5)
            written = v[head * len(v) // N_HEADS] @ weights.attention(layer).W_O[head]
            first, *others = np.linalg.norm(written, axis=-1)
            assert found.lengths[row, head] == pytest.approx(first / np.mean(others), rel=1e-4)


def test_a_text_of_one_token_has_no_sink() -> None:
    trace = decoder(["one"], layers=1)
    values = dict(trace.values) | {"decoder.0.self_attn.v": np.ones((N_HEADS, 1, D_HEAD), dtype=np.float32)}
    found = sinks(Trace(target=trace.target, values=values), made("pre")[2], "decoder.self_attn")
    assert np.isnan([found.shares, found.lengths]).all()


@each("name", ["pre", "post translator"])
def test_without_its_value_the_first_token_is_looked_at_all_the_same(name: str) -> None:
    module, trace, weights = made(name)
    layer, head = "decoder.1.self_attn", 1
    _, attention, _ = attention_at(module, layer)
    kv_head = head // attention.n_groups

    def hook(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        output = output.clone()
        output[0, 0, kv_head * D_HEAD : (kv_head + 1) * D_HEAD] = 0
        return output

    inputs = inputs_of(module.config.architecture, batch=1)
    handle = attention.W_V.register_forward_hook(hook)
    theirs = run(module, *inputs)
    handle.remove()
    ours = run(module, *inputs, edits=without_value(weights, (layer,), head))
    torch.testing.assert_close(ours["logits"], theirs["logits"])
    torch.testing.assert_close(ours[f"{layer}.pattern"][0], torch.tensor(trace[f"{layer}.pattern"]))
    assert (ours["logits"][0] - torch.tensor(trace["logits"])).abs().max() > 1e-3
    values = run(module, *inputs, edits=without_value(weights, trace.layers))  # of all heads
    assert not any(values[f"{one}.v"][0, :, 0].any() for one in trace.layers)
    assert all(values[f"{one}.v"][0, :, 1:].any() for one in trace.layers)


def test_what_a_learned_sink_takes_is_unused() -> None:
    module = lively_model(sink="present").requires_grad_(False)
    logits = [value for name, value in module.named_parameters() if name.endswith("self_attn.sink")]
    for number, sink in enumerate(logits):
        sink.copy_(torch.linspace(-1, 1, N_HEADS) + number)
    trace, weights = trace_of(module), weights_of(module)
    found = sinks(trace, weights, "decoder.self_attn")
    for layer, unused in zip(found.layers, found.unused, strict=True):
        of_layer = weights.attention(layer).sink
        assert of_layer is not None
        powers = np.exp(trace[f"{layer}.scores"].astype(np.float64)).sum(axis=-1)  # (head, query)
        taken = np.exp(of_layer.astype(np.float64))[:, None]
        np.testing.assert_allclose(unused, (taken / (taken + powers)).mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(sinks(made("pre")[1], made("pre")[2], "decoder.self_attn").unused, 0, atol=1e-6)
