"""A score as a sum over writers: against a float64 run of torch's own layers, and paths removed by torch's hooks."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.each import each
from tests.model.helpers import K_LENGTH, LENGTH, N_HEADS, N_LAYERS, inputs_of, lively_model
from tests.model.helpers import record as run
from tests.traces import encoding
from tfmviz import zoo
from tfmviz.analysis.why.reading import BIASES, folded
from tfmviz.analysis.why.score import SIDES, Pair, ScoreSum, Side, removal, score_sum, sharing
from tfmviz.model.attention import Attention
from tfmviz.model.block import Block
from tfmviz.model.transformer import Transformer
from tfmviz.model.weights import effects_of, stacks_of, weights_of
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import ModelWeights, PositionEffects

EXACT = 1e-5
"""Largest residue, of the sum of all terms in size."""

MODELS: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm_position": "post", "positions": "learned"},
    "rms": {"norm": "rms", "positions": "sinusoidal", "feed_forward": "swiglu"},
    "attention only": {"feed_forward": "none", "positions": "none"},
    "encoder": {"architecture": "encoder-only", "positions": "t5"},
    "alibi": {"positions": "alibi", "score_divisor": 1.0},
    "translator": {"architecture": "encoder-decoder", "positions": "rope"},
    "post translator": {"architecture": "encoder-decoder", "norm_position": "post", "n_kv_heads": 1},
    "both": {"norm_position": "both", "norm": "rms", "score_cap": 3.0, "qk_norm": "present"},
    "parallel": {"residual": "parallel"},
    "normed embedding": {"norm_position": "post", "embedding_norm": "present", "positions": "learned"},
    "biased": {"architecture": "encoder-only", "embedding_norm": "present", "segment": "present", "head": "bias"},
}
every_model = each("name", MODELS)


@cache
def made(name: str) -> tuple[Transformer, Trace, ModelWeights]:
    module = lively_model(**MODELS[name]).requires_grad_(False)
    return module, traced(module), weights_of(module)


def traced(module: Transformer) -> Trace:
    architecture = module.config.architecture
    values = run(module, *inputs_of(architecture, batch=1))
    arrays = {site: value.numpy() if site.endswith(".mask") else value.numpy()[0] for site, value in values.items()}
    source = encoding([f"s{n}" for n in range(K_LENGTH)]) if architecture == "encoder-decoder" else None
    return Trace(target=encoding([f"t{n}" for n in range(LENGTH)]), source=source, values=arrays)


def positions_of(module: Transformer, trace: Trace, layer: str) -> PositionEffects:
    if layer.endswith("cross_attn"):
        return PositionEffects()
    stack = layer.split(".")[0]
    return effects_of(stacks_of(module)[stack].positions, len(trace.axes(layer)[0]), d_model=module.config.d_model)


def sum_of(name: str, pair: Pair) -> ScoreSum:
    module, trace, weights = made(name)
    return score_sum(trace, pair, weights, positions_of(module, trace, pair.layer))


def some_pairs(trace: Trace, layer: str, heads: int = N_HEADS) -> list[Pair]:
    """Every head with two pairs of tokens: one that a decoder's mask allows, one that it forbids."""
    queries, keys = (len(axis) for axis in trace.axes(layer))
    return [
        Pair(layer=layer, head=head, query=query % queries, key=key % keys)
        for head in range(heads)
        for query, key in ((4 + head, 1 + head), (2, 5))
    ]


# The sum.


@every_model
def test_the_terms_sum_to_the_score_of_a_float64_run(name: str) -> None:
    module, trace, _ = made(name)
    exact = traced(copy.deepcopy(module).double())
    for layer in trace.layers:
        for pair in some_pairs(trace, layer):
            found = sum_of(name, pair)
            score = exact[f"{layer}.scores"][pair.head, pair.query, pair.key]
            bound = EXACT * np.abs(found.terms).sum() + EXACT
            assert found.is_masked == np.isneginf(score)
            assert found.is_masked or found.total == pytest.approx(score, abs=bound)
            assert found.residue < EXACT


@each("name", ["pre", "post", "both"])
def test_a_writer_that_is_left_out_shows_in_the_residue(name: str) -> None:
    _, trace, _ = made(name)
    for pair in some_pairs(trace, trace.layers[-1]):
        found = sum_of(name, pair)
        found.terms[0] = 0
        assert found.residue > 100 * EXACT


@every_model
def test_every_writer_before_the_layer_is_there_once(name: str) -> None:
    module, trace, _ = made(name)
    layer = trace.layers[-1]
    found = sum_of(name, Pair(layer=layer, head=0, query=1, key=1))
    depths = {"query": N_LAYERS - 1, "key": N_LAYERS if layer.endswith("cross_attn") else N_LAYERS - 1}
    for side, depth in depths.items():
        names = list(found.readings[side].names)  # type: ignore[index]
        heads = [name for name in names if name.startswith("head")]
        here = N_HEADS if side == "query" and layer.endswith("cross_attn") else 0  # its own block's self-attention
        assert len(heads) == N_HEADS * depth + here
        n_mlps = depth if module.config.feed_forward.kind != "none" else 0
        assert sum(name.startswith("MLP") for name in names) == n_mlps
        assert ("position" in names) == (module.config.scheme.acts == "embed")
        assert len(set(names)) == len(names)
        assert names[-1] == BIASES


def test_the_bias_of_the_scheme_is_a_term_of_its_own() -> None:
    found = sum_of("alibi", Pair(layer="decoder.1.self_attn", head=0, query=6, key=2))
    assert found.bias == pytest.approx(-4 * 2**-4)  # distance 4; the first of two slopes is 2^(-8/2)
    assert found.total == pytest.approx(found.terms.sum() + found.bias)
    far = sum_of("alibi", Pair(layer="decoder.1.self_attn", head=0, query=6, key=0))
    assert far.bias == pytest.approx(found.bias * 6 / 4)


def test_rope_turns_both_sides_so_that_a_shift_of_both_changes_nothing() -> None:
    """The same words in the first layer at other places: every term depends on the distance alone."""
    module = made("pre")[0]
    ids = torch.tensor([[3, 5, 7, 3, 5, 7, 3]])
    arrays = {s: v.numpy() if s.endswith(".mask") else v.numpy()[0] for s, v in run(module, ids).items()}
    trace = Trace(target=encoding([f"t{n}" for n in range(7)]), values=arrays)
    effects = positions_of(module, trace, "decoder.0.self_attn")
    one, other, farther = (
        score_sum(trace, Pair(layer="decoder.0.self_attn", head=1, query=q, key=k), weights_of(module), effects).terms
        for q, k in ((2, 0), (5, 3), (5, 0))
    )
    np.testing.assert_allclose(one, other, atol=1e-5)
    assert np.abs(one - farther).max() > 1e-2


def test_linear_attention_has_no_such_sum() -> None:
    module = lively_model(attention="linear", positions="learned").requires_grad_(False)
    trace = traced(module)
    with pytest.raises(ValueError, match="linear"):
        score_sum(
            trace, Pair(layer="decoder.0.self_attn", head=0, query=1, key=0), weights_of(module), PositionEffects()
        )


# Shipped models, all heads.

SHIPPED = [entry.name for entry in zoo.catalogue() if entry.config and entry.config.attention.kind == "softmax"]
WORDS = ("the", "old", "king", "saw", "a", "small", "dog", "and", "it", "ran", "to", "his", "house", "because", "she")


def sentences(n: int) -> list[str]:
    """Different texts of 6 words."""
    return [
        " ".join(WORDS[(start * 5 + step * (2 + start % 5)) % len(WORDS)] for step in range(6)) for start in range(n)
    ]


@each("name", SHIPPED)
def test_the_sum_holds_for_every_head_of_the_shipped_models(name: str) -> None:
    """Each head has a sentence of its own, and a pair of its own."""
    model = zoo.load(name)
    exact = copy.deepcopy(model.module).double()
    texts = sentences(5)
    traces = [model.trace(text) for text in texts]
    runs = [scores_in_float64(exact, trace) for trace in traces]
    heads = [(layer, head) for layer in traces[0].layers for head in range(model.config.attention.n_heads)]
    for n, (layer, head) in enumerate(heads):
        trace, truth = traces[n % len(texts)], runs[n % len(texts)]
        queries, keys = (len(axis) for axis in trace.axes(layer))
        pair = Pair(layer=layer, head=head, query=(3 * n + 2) % queries, key=n % keys)
        stack, _, part = layer.split(".")
        effects = model.position_effects(stack, queries) if part == "self_attn" else PositionEffects()
        found = score_sum(trace, pair, model.weights, effects)
        score = truth[f"{layer}.scores"][pair.head, pair.query, pair.key]
        assert found.residue < EXACT
        assert found.is_masked == np.isneginf(score)
        assert found.is_masked or found.total == pytest.approx(score, abs=EXACT * np.abs(found.terms).sum())


def scores_in_float64(module: Transformer, trace: Trace) -> dict[str, Array]:
    texts = [trace.target] if trace.source is None else [trace.source, trace.target]
    values = run(module, *(torch.tensor([text.ids]) for text in texts), sites=("*.scores",))
    return {site: value.numpy()[0] for site, value in values.items()}


# A path removed.


def attention_at(module: Transformer, layer: str) -> tuple[Block, Attention, nn.Module]:
    """The block, its attention and the norm before, or after, it."""
    stack, index, part = layer.split(".")
    block = stacks_of(module)[stack].layers[int(index)]
    assert isinstance(block, Block)
    return block, getattr(block, part), getattr(block, f"{part}_residual").norm


def removed_by_hooks(module: Transformer, trace: Trace, pair: Pair, side: Side, write: Array) -> dict[str, Tensor]:
    """A run of torch's layers in which one head reads one token's stream without `write`, in a pre-norm model."""
    _, attention, norm = attention_at(module, pair.layer)
    projection = attention.W_Q if side == "query" else attention.W_K
    stream = trace[f"{pair.layer.rsplit('.', 1)[0]}.resid_pre"][pair.token(side)]
    d_head = attention.d_head
    kv_head = pair.head if side == "query" else pair.head // attention.n_groups
    own = slice(kv_head * d_head, (kv_head + 1) * d_head)

    def hook(layer: nn.Module, _: Any, output: Tensor) -> Tensor:
        output = output.clone()
        output[0, pair.token(side), own] = nn.Linear.forward(layer, norm(torch.tensor(stream - write)))[own]  # type: ignore[arg-type]
        return output

    handle = projection.register_forward_hook(hook)
    try:
        return run(module, *inputs_of(module.config.architecture, batch=1))
    finally:
        handle.remove()


@each("side", SIDES)
@each("name", ["pre", "rms", "attention only", "encoder", "parallel", "alibi"])
def test_without_a_path_the_model_computes_what_torch_does_when_one_head_does_not_read_it(
    name: str, side: Side
) -> None:
    module, trace, weights = made(name)
    layer = trace.layers[-1]
    pair = Pair(layer=layer, head=1, query=4, key=2)
    found = sum_of(name, pair)
    names = found.readings[side].names
    stack = layer.split(".")[0]
    written = {
        "head 0.2": trace[f"{stack}.0.self_attn.z"][2, pair.token(side)]
        @ weights.attention(f"{stack}.0.self_attn").W_O[2],
        "embedding": trace["embed"][pair.token(side)],
    }
    if "MLP 0" in names:
        written["MLP 0"] = trace[f"{stack}.0.mlp.out"][pair.token(side)]
    for writer, write in written.items():
        edit = removal(found, pair, weights, side=side, writer=names.index(writer))
        ours = run(module, *inputs_of(module.config.architecture, batch=1), edits=[edit])
        theirs = removed_by_hooks(module, trace, pair, side, write)
        for site in (f"{layer}.pattern", "logits"):
            torch.testing.assert_close(ours[site], theirs[site], rtol=1e-4, atol=1e-4)
        others = [head for head in range(N_HEADS) if head != pair.head]
        torch.testing.assert_close(ours[f"{layer}.pattern"][0, others], torch.tensor(trace[f"{layer}.pattern"][others]))


@each("name", ["post", "normed embedding"])
def test_in_a_post_norm_model_all_norms_after_the_writer_act_anew(name: str) -> None:
    module, trace, _ = made(name)
    found = sum_of(name, Pair(layer="decoder.1.self_attn", head=1, query=4, key=2))
    reading = found.readings["query"]
    stack, block = stacks_of(module)["decoder"], stacks_of(module)["decoder"].layers[0]
    assert isinstance(block, Block)
    whole = {
        site: torch.tensor(trace[site][4])
        for site in ("embed", "decoder.pos_embed", "decoder.0.self_attn.out", "decoder.0.mlp.out")
    }
    written = {"embedding": "embed", "position": "decoder.pos_embed", "MLP 0": "decoder.0.mlp.out"}
    for writer, site in written.items():
        left = whole | {site: torch.zeros_like(whole[site])}
        x = left["embed"] + left["decoder.pos_embed"]
        x = x if stack.embed_norm is None else stack.embed_norm(x)
        x = block.self_attn_residual.norm(x + left["decoder.0.self_attn.out"])
        assert block.mlp_residual is not None
        x = block.mlp_residual.norm(x + left["decoder.0.mlp.out"])
        np.testing.assert_allclose(reading.without(reading.names.index(writer)), x.numpy(), atol=1e-5)


@each("name", ["pre", "rms", "both", "encoder", "translator"])
def test_what_is_predicted_and_what_is_found_differ_by_sigma_alone(name: str) -> None:
    _, trace, _ = made(name)
    for side in SIDES:
        reading = sum_of(name, Pair(layer=trace.layers[-1], head=0, query=3, key=1)).readings[side]
        assert reading.norm is not None
        beta, whole = reading.norm.bias, reading.shares.sum(axis=0)
        for writer in range(len(reading.names) - 1):
            before, after = reading.scales(writer) or (0.0, 0.0)
            predicted = whole - reading.shares[writer] - beta
            np.testing.assert_allclose((reading.without(writer) - beta) * after, predicted * before, atol=1e-4)


@every_model
def test_the_prediction_takes_a_row_or_a_column_of_the_terms(name: str) -> None:
    _, trace, _ = made(name)
    found = sum_of(name, Pair(layer=trace.layers[-1], head=0, query=3, key=1))
    for side, lines in zip(SIDES, (found.terms, found.terms.T), strict=True):
        without = np.delete(lines, 1, axis=0).sum()
        bent = without if found.cap is None else found.cap * np.tanh(without / found.cap)
        assert found.predicted(side, 1) == pytest.approx(bent + found.bias - found.total)


def test_without_the_biases_no_bias_is_left() -> None:
    _, trace, weights = made("pre")
    pair = Pair(layer="decoder.1.self_attn", head=1, query=4, key=2)
    found = sum_of("pre", pair)
    edit = removal(found, pair, weights, side="query", writer=len(found.readings["query"].names) - 1)
    attention, norm = weights.attention(pair.layer), weights.stacks["decoder"].norms[pair.layer]
    before = weights.attention("decoder.0.self_attn")
    stream = trace["decoder.1.resid_pre"][4].astype(float) - before.b_O
    expected = (norm(stream) - norm.bias) @ attention.W_Q[1]
    np.testing.assert_allclose(edit.vector, expected, atol=1e-5)


def test_heads_that_share_keys_are_named() -> None:
    weights = made("post translator")[2]
    assert sharing(weights.attention("decoder.0.self_attn"), 1) == [0, 1, 2]
    assert sharing(made("pre")[2].attention("decoder.0.self_attn"), 1) == [1]


def test_what_is_folded_keeps_its_sum() -> None:
    matrix = np.arange(12.0).reshape(3, 4) ** 2
    shown = folded(matrix, [2, 0], [1])
    assert shown.shape == (3, 2)
    assert shown.sum() == matrix.sum()
    assert shown[0, 0] == matrix[2, 1]
    assert shown[2, 1] == matrix[1, [0, 2, 3]].sum()
