"""A score as a sum over writers, paths removed, and copying: against torch in float64, torch's hooks, and numpy."""

import copy
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.analysis.test_stream import every_model
from tests.analysis.test_stream import made as with_stack
from tests.cases import each
from tests.model.helpers import inputs_of, lively_model
from tests.model.helpers import record as run
from tests.model.sizes import N_HEADS, N_LAYERS
from tests.records import trace_of
from tfmviz import zoo
from tfmviz.analysis.why.copying import eigenvalue_scores, measured_scores
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


@cache
def made(name: str) -> tuple[Transformer, Trace, ModelWeights]:
    module, trace, *_ = with_stack(name)
    return module, trace, weights_of(module)


def positions_of(module: Transformer, trace: Trace, layer: str) -> PositionEffects:
    if layer.endswith("cross_attn"):
        return PositionEffects()
    stack = layer.split(".")[0]
    return effects_of(stacks_of(module)[stack].positions, len(trace.axes(layer)[0]), d_model=module.config.d_model)


def sum_of(name: str, pair: Pair) -> ScoreSum:
    module, trace, weights = made(name)
    return score_sum(trace, pair, weights, positions_of(module, trace, pair.layer))


def some_pairs(trace: Trace, layer: str) -> list[Pair]:
    """Every head with two pairs of tokens: one that a decoder's mask allows, one that it forbids."""
    queries, keys = map(len, trace.axes(layer))
    places = [(head, place) for head in range(N_HEADS) for place in ((4 + head, 1 + head), (2, 5))]
    return [Pair(layer=layer, head=head, query=i % queries, key=j % keys) for head, (i, j) in places]


@every_model
def test_the_terms_sum_to_the_score_of_a_float64_run(name: str) -> None:
    module, trace, _ = made(name)
    exact = trace_of(copy.deepcopy(module).double())
    for pair in (pair for layer in trace.layers for pair in some_pairs(trace, layer)):
        found, score = sum_of(name, pair), exact[f"{pair.layer}.scores"][pair.head, pair.query, pair.key]
        assert found.residue < EXACT
        assert found.is_masked == np.isneginf(score)
        assert found.is_masked or found.total == pytest.approx(score, abs=EXACT * (np.abs(found.terms).sum() + 1))


@each("name", ["pre", "post", "both"])
def test_a_writer_that_is_left_out_shows_in_the_residue(name: str) -> None:
    _, trace, _ = made(name)
    for pair in some_pairs(trace, trace.layers[-1]):
        found = sum_of(name, pair)
        found.terms[0] = 0
        assert found.residue > 100 * EXACT


@every_model
def test_every_writer_is_there_once_and_is_predicted_by_its_row_or_column(name: str) -> None:
    module, trace, _ = made(name)
    layer = trace.layers[-1]
    crosses = layer.endswith("cross_attn")
    found = sum_of(name, Pair(layer=layer, head=0, query=1, key=1))
    depths: dict[Side, int] = {"query": N_LAYERS - 1, "key": N_LAYERS if crosses else N_LAYERS - 1}
    for side, depth in depths.items():
        names = list(found.readings[side].names)
        here = N_HEADS if side == "query" and crosses else 0  # its own block's self-attention
        assert sum(name.startswith("head") for name in names) == N_HEADS * depth + here
        n_mlps = depth if module.config.feed_forward.kind != "none" else 0
        assert sum(name.startswith("MLP") for name in names) == n_mlps
        assert ("position" in names) == (module.config.scheme.acts == "embed")
        assert len(set(names)) == len(names)
        assert names[-1] == BIASES
    found = sum_of(name, Pair(layer=layer, head=0, query=3, key=1))
    for side, lines in zip(SIDES, (found.terms, found.terms.T), strict=True):
        without = np.delete(lines, 1, axis=0).sum()
        bent = without if found.cap is None else found.cap * np.tanh(without / found.cap)
        assert found.predicted(side, 1) == pytest.approx(bent + found.bias - found.total)


def test_the_bias_of_the_scheme_is_a_term_and_linear_attention_has_no_such_sum() -> None:
    found, far = (sum_of("ALiBi", Pair(layer="decoder.1.self_attn", head=0, query=6, key=key)) for key in (2, 0))
    assert found.bias == pytest.approx(-4 * 2**-4)  # distance 4; the first of two slopes is 2^(-8/2)
    assert found.total == pytest.approx(found.terms.sum() + found.bias)
    assert far.bias == pytest.approx(found.bias * 6 / 4)
    module = lively_model(attention="linear", positions="learned").requires_grad_(False)
    pair = Pair(layer="decoder.0.self_attn", head=0, query=1, key=0)
    with pytest.raises(ValueError, match="linear"):
        score_sum(trace_of(module), pair, weights_of(module), PositionEffects())


def attention_at(module: Transformer, layer: str) -> tuple[Block, Attention, nn.Module]:
    """The block, its attention and the norm before, or after, it."""
    stack, index, part = layer.split(".")
    block = stacks_of(module)[stack].layers[int(index)]
    assert isinstance(block, Block)
    return block, getattr(block, part), getattr(block, f"{part}_residual").norm


def read_without(
    name: str, layer: str, head: int, way: Literal["Q", "K", "V"], write: Array, tokens: Any = slice(None)
) -> dict[str, Tensor]:
    """A run of torch's layers in which one head reads these tokens' streams without `write`, in a pre-norm model."""
    module, trace, _ = made(name)
    _, attention, norm = attention_at(module, layer)
    stream = trace[f"{layer.rsplit('.', 1)[0]}.resid_pre"][tokens]
    first = (head if way == "Q" else head // attention.n_groups) * attention.d_head
    own = slice(first, first + attention.d_head)

    def hook(layer: nn.Module, _: Any, output: Tensor) -> Tensor:
        output = output.clone()
        read = norm(torch.tensor(stream - write))
        output[0, tokens, own] = nn.Linear.forward(layer, read)[..., own]  # type: ignore[arg-type]
        return output

    handle = getattr(attention, f"W_{way}").register_forward_hook(hook)
    try:
        return run(module, *inputs_of(module.config.architecture, batch=1))
    finally:
        handle.remove()


@each("side", SIDES)
@each("name", ["pre", "rms", "no positions", "encoder", "parallel", "ALiBi", "Shaw"])
def test_without_a_path_the_model_computes_what_torch_does_when_a_head_does_not_read_it(name: str, side: Side) -> None:
    module, trace, weights = made(name)
    layer = trace.layers[-1]
    pair = Pair(layer=layer, head=1, query=4, key=2)
    found, token, first = sum_of(name, pair), pair.token(side), f"{layer.split('.')[0]}.0"
    names = found.readings[side].names
    head = trace[f"{first}.self_attn.z"][2, token] @ weights.attention(f"{first}.self_attn").W_O[2]
    written = {"head 0.2": head, "embedding": trace["embed"][token]}
    if "MLP 0" in names:
        written["MLP 0"] = trace[f"{first}.mlp.out"][token]
    for writer, write in written.items():
        edit = removal(found, pair, weights, side=side, writer=names.index(writer))
        ours = run(module, *inputs_of(module.config.architecture, batch=1), edits=[edit])
        theirs = read_without(name, layer, pair.head, "Q" if side == "query" else "K", write, token)
        for site in (f"{layer}.pattern", "logits"):
            torch.testing.assert_close(ours[site], theirs[site], rtol=1e-4, atol=1e-4)
        others = [head for head in range(N_HEADS) if head != pair.head]
        torch.testing.assert_close(ours[f"{layer}.pattern"][0, others], torch.tensor(trace[f"{layer}.pattern"][others]))


@each("name", ["post", "normed embedding"])
def test_in_a_post_norm_model_all_norms_after_the_writer_act_anew(name: str) -> None:
    module, trace, _ = made(name)
    reading = sum_of(name, Pair(layer="decoder.1.self_attn", head=1, query=4, key=2)).readings["query"]
    stack = stacks_of(module)["decoder"]
    block = stack.layers[0]
    assert isinstance(block, Block)
    assert block.mlp_residual is not None
    sites = {"embedding": "embed", "position": "decoder.pos_embed", "": "decoder.0.self_attn.out"}
    sites |= {"MLP 0": "decoder.0.mlp.out"}
    for writer in filter(None, sites):
        embed, position, attention, mlp = (torch.tensor(trace[site][4] * (of != writer)) for of, site in sites.items())
        x = embed + position
        x = x if stack.embed_norm is None else stack.embed_norm(x)
        x = block.mlp_residual.norm(block.self_attn_residual.norm(x + attention) + mlp)
        np.testing.assert_allclose(reading.without(reading.names.index(writer)), x.numpy(), atol=1e-5)


@each("name", ["pre", "rms", "both", "encoder", "rope translator"])
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


def test_what_is_folded_keeps_its_sum_and_heads_that_share_keys_are_named() -> None:
    assert sharing(made("post translator")[2].attention("decoder.0.self_attn"), 1) == [0, 1, 2]
    assert sharing(made("pre")[2].attention("decoder.0.self_attn"), 1) == [1]
    matrix = np.arange(12.0).reshape(3, 4) ** 2
    shown = folded(matrix, [2, 0], [1])
    assert shown.shape == (3, 2)
    assert shown.sum() == matrix.sum()
    assert (shown[0, 0], shown[2, 1]) == (matrix[2, 1], matrix[1, [0, 2, 3]].sum())


@each("name", ["pre", "post", "encoder", "rope translator"])
def test_the_score_is_that_of_the_full_circuit(name: str) -> None:
    _, trace, weights = made(name)
    x, U = weights.W_E.astype(np.float64), weights.W_U.astype(np.float64)
    for layer in trace.layers:
        found = eigenvalue_scores(weights, layer)
        stack = weights.stacks[layer.split(".")[0]]
        attention, read, written = stack.attention[layer], x, U
        if (last := stack.readout.norm) is not None:  # a norm centres and multiplies by γ, up to σ; so does the last
            norm = stack.norms[layer]
            read = (x - x.mean(-1, keepdims=True) if norm.kind == "layer" else x) * norm.gain
            written = U * last.gain
            written = written - written.mean(-1, keepdims=True) if last.kind == "layer" else written
        for head in range(N_HEADS):
            W_V = attention.W_V[head * len(attention.W_V) // N_HEADS].astype(np.float64)
            values = np.linalg.eigvals(read @ W_V @ attention.W_O[head].astype(np.float64) @ written.T)
            assert found[head] == pytest.approx(values.real.sum() / np.abs(values).sum(), abs=1e-6)


def test_induction_heads_copy_and_the_head_before_does_not() -> None:
    """Heads of the shipped model `induction` that copy random tokens have almost positive eigenvalues only."""
    weights = zoo.load("induction").weights
    assert eigenvalue_scores(weights, "decoder.1.self_attn")[:3].min() > 0.9
    assert eigenvalue_scores(weights, "decoder.0.self_attn").max() < 0


def test_the_measured_score_counts_tokens_that_are_raised() -> None:
    model, layer = zoo.load("induction"), "decoder.1.self_attn"
    trace, weights = model.trace("The cat saw the cat."), model.weights
    attention, norm = weights.attention(layer), weights.stacks["decoder"].readout.norm
    assert norm is not None
    found = measured_scores(trace, layer, weights)
    for head in range(4):
        written = trace[f"{layer}.v"][head].astype(np.float64) @ attention.W_O[head]
        moved = (written - written.mean(axis=1, keepdims=True)) * norm.gain @ weights.W_U.T  # each logit, up to σ
        own = moved[np.arange(len(moved)), trace.target.ids]
        looked = trace[f"{layer}.pattern"][head].sum(axis=0)
        copied = looked * (own > moved.mean(axis=1))
        assert found[head] == pytest.approx(copied.sum() / looked.sum(), abs=1e-6)
