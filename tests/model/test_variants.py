"""A mixture of experts against its formula, shared layers against equal ones, and attention that compares no tokens."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from tests.cases import each
from tests.model.helpers import assert_close, config, inputs_of, lively, normal, record, token_ids, with_other_token
from tests.model.sizes import LENGTH
from tfmviz.model.config import ModelConfig
from tfmviz.model.feed_forward import BALANCE, Experts, FeedForward
from tfmviz.model.synthesizer import Synthesis, synthesize
from tfmviz.model.transformer import DecoderOnly, build, parameter_shapes
from tfmviz.model.weights import weights_of
from tfmviz.record.edits import Patch
from tfmviz.record.tap import NO_TAP, STEPWISE, Fork
from tfmviz.zoo.files import read_module

N_EXPERTS = 5

EXPERTS = config(n_experts=N_EXPERTS)
SHARED = config(shared_layers="present", n_layers=3)


def mixture(**changes: object) -> Experts:
    return lively(Experts(config(n_experts=N_EXPERTS, **changes)))


def x_of(batch: int = 2) -> Tensor:
    return normal(batch, 31, EXPERTS.d_model)  # so many tokens that every expert is chosen


@each("feed_forward", ["gelu", "swiglu"])
def test_each_token_gets_its_experts_output_times_that_experts_probability(feed_forward: str) -> None:
    layer, x = mixture(feed_forward=feed_forward), x_of()
    values = record(layer, x)
    p = (x @ layer.W_R.weight.T + layer.W_R.bias).exp()
    p = p / p.sum(dim=-1, keepdim=True)
    assert_close(values["router"], p)
    every = torch.stack([expert(x, tap=NO_TAP) for expert in layer.experts], dim=-2)  # (batch, len, expert, d_model)
    chosen = F.one_hot(p.argmax(dim=-1), N_EXPERTS)
    assert (chosen.sum(dim=(0, 1)) > 0).all()
    assert_close(values["out"], torch.einsum("ble,ble,bled->bld", chosen.float(), p, every))


def test_the_chosen_experts_count_by_their_probabilities_or_shares_of_them_and_a_shared_one_always() -> None:
    limits, x = (0.5, -0.4, 0.7), x_of()
    for n_chosen, shares, d_shared in ((2, "probabilities", None), (3, "shares", 19)):
        facts = {"feed_forward": "swiglu", "n_chosen": n_chosen, "expert_weights": shares, "d_shared": d_shared}
        layer = mixture(**facts, limits=limits)
        values = record(layer, x)
        p = values["router"]
        least = p.sort(dim=-1, descending=True).values[..., [n_chosen - 1]]
        w = torch.where(p >= least, p, 0.0)
        w = w / w.sum(dim=-1, keepdim=True) if shares == "shares" else w
        assert_close(values["weights"], w)
        every = torch.stack([limited(expert, x, limits) for expert in layer.experts], dim=-2)
        expected = torch.einsum("ble,bled->bld", w, every)
        if d_shared is not None:
            assert layer.shared is not None
            assert layer.W_S is not None
            assert_close(values["shared"], 1 / (1 + (-layer.W_S(x)).exp()))
            expected = expected + values["shared"] * limited(layer.shared, x, limits)
        assert_close(values["out"], expected)


def limited(expert: Any, x: Tensor, limits: tuple[float, float, float]) -> Tensor:
    gate, inner = (getattr(expert, name)(x) for name in ("W_gate", "W_in"))
    gate, inner = torch.minimum(gate, torch.tensor(limits[0])), inner.clip(*limits[1:])
    return expert.W_out(gate / (1 + (-gate).exp()) * inner)


def test_one_expert_alone_is_the_ordinary_layer_and_several_have_no_single_matrices() -> None:
    assert isinstance(DecoderOnly(config(n_experts=1)).decoder.layers[0].mlp, FeedForward)
    layer, x = lively(Experts(config(n_experts=1))), x_of()
    assert_close(layer(x, tap=NO_TAP), layer.experts[0](x, tap=NO_TAP))
    weights = weights_of(lively(build(EXPERTS))).stacks["decoder"]
    assert not weights.feed_forward
    assert "decoder.0.mlp" in weights.norms


def test_the_router_can_be_overruled() -> None:
    layer, x = mixture(), x_of(batch=1)
    wanted = Patch(site="router", position=3, vector=(0.0, 0.0, 0.5, 0.0, 0.0))
    out = record(layer, x, edits=[wanted])["out"]
    assert_close(out[0, 3], 0.5 * layer.experts[2](x[0, 3], tap=NO_TAP))
    untouched = layer(x, tap=NO_TAP)
    assert_close(out[0, 4:], untouched[0, 4:])
    assert_close(layer(x, tap=Fork([[wanted], []])), torch.cat([out, untouched]))


def test_in_training_the_gradient_is_that_of_the_balancing_loss_too() -> None:
    layer, x, upstream = mixture(), x_of(), normal(2, 31, EXPERTS.d_model, seed=4)
    (layer.train()(x, tap=NO_TAP) * upstream).sum().backward()
    ours = {name: weight.grad for name, weight in layer.named_parameters()}
    layer.zero_grad()
    p = layer.eval().W_R(x).softmax(dim=-1)
    share = F.one_hot(p.argmax(dim=-1), N_EXPERTS).float().mean(dim=(0, 1))
    balance = BALANCE * N_EXPERTS * (share * p.mean(dim=(0, 1))).sum()
    ((layer(x, tap=NO_TAP) * upstream).sum() + balance).backward()
    for name, weight in layer.named_parameters():
        torch.testing.assert_close(ours[name], weight.grad)
    layer.zero_grad()
    (0 * layer.train()(x, tap=NO_TAP)).sum().backward()
    assert layer.W_R.weight.grad is not None
    assert layer.W_R.weight.grad.abs().max() > 0


def test_shared_layers_are_a_model_with_equal_layers() -> None:
    shared = lively(build(SHARED))
    equal = build(config(n_layers=3))
    weights = shared.state_dict()
    copies = {n: weights[n.replace("blocks.1", "blocks.0").replace("blocks.2", "blocks.0")] for n in equal.state_dict()}
    equal.load_state_dict(copies)
    ids = token_ids(LENGTH)
    assert_close(shared(ids, STEPWISE), equal.eval()(ids, STEPWISE))
    assert record(shared, ids).keys() == record(equal, ids).keys()
    assert sum(weight.numel() for weight in shared.parameters()) == sum(
        weight.numel() for weight in build(config(n_layers=1)).parameters()
    )
    ours, theirs = weights_of(shared), weights_of(equal)
    assert ours.stacks["decoder"].attention.keys() == theirs.stacks["decoder"].attention.keys()
    assert ours.n_parameters < theirs.n_parameters


def test_writes_are_made_small_for_each_time_they_are_added() -> None:
    for changes in ({}, {"shared_layers": "present"}, {"n_experts": N_EXPERTS}):
        torch.manual_seed(0)
        model = build(config(n_layers=8, d_ff=500, **changes))
        for name, weight in model.named_parameters():
            if name.endswith("W_out.weight"):
                assert weight.std().item() == pytest.approx(0.02 / 4, rel=0.05)


@each(
    "shape",
    {
        "experts": EXPERTS,
        "several of them": config(
            n_experts=N_EXPERTS, n_chosen=2, d_shared=19, feed_forward="swiglu", limits=[0.5, -0.4, 0.7]
        ),
        "narrow": config(architecture="encoder-only", positions="learned", embedding_width=13, head="transform"),
        "tables": config(architecture="encoder-decoder", positions="t5", position_numbers="own"),
        "shared": SHARED,
        "both": config(architecture="encoder-decoder", n_decoder_layers=3, shared_layers="present", n_experts=2),
    },
)
def test_weights_are_stored_once_and_read_back(shape: ModelConfig, tmp_path: Path) -> None:
    model, inputs = lively(build(shape)), inputs_of(shape.architecture)
    state = model.state_dict()
    assert parameter_shapes(shape) == {name: tuple(value.shape) for name, value in state.items()}
    assert len(state) == len(list(model.parameters()))
    save_file(state, tmp_path / "model.safetensors")
    torch.testing.assert_close(read_module(tmp_path, shape)(*inputs), model(*inputs))
    assert ModelConfig.from_dict(shape.to_dict()) == shape


@each("kind", ["random", "dense"])
def test_a_synthesizer_is_causal_and_its_rows_sum_to_1(kind: Synthesis) -> None:
    model = lively(synthesize(DecoderOnly(config()), kind))
    ids = token_ids(LENGTH)
    values = record(model, ids)
    pattern = values["decoder.1.self_attn.pattern"]
    assert_close(pattern.sum(dim=-1), torch.ones(pattern.shape[:-1]))
    assert (pattern.triu(1) == 0).all()
    assert_close(model(with_other_token(ids, -1))[:, :-1], model(ids)[:, :-1])


def test_what_the_scores_of_a_synthesizer_depend_on() -> None:
    ids = token_ids(LENGTH)
    other = with_other_token(ids, 2)
    for kind, rows in (("random", []), ("dense", [2])):
        model = lively(synthesize(DecoderOnly(config()), kind))  # type: ignore[arg-type]
        scores = [record(model, x)["decoder.0.self_attn.pattern"].expand(len(ids), -1, -1, -1) for x in (ids, other)]
        changed = (scores[0] != scores[1]).any(dim=-1).any(dim=1)  # (batch, query)
        assert [i for i in range(LENGTH) if changed[:, i].any()] == rows
        assert len({tuple(row.tolist()) for row in scores[0][0, 0]}) == LENGTH
