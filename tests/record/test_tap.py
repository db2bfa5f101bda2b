"""The tap: what is recorded, what edits do, and that neither leaks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import cast
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.cases import each
from tests.model.helpers import assert_close, assert_same, config, inputs_of, lively_model, record
from tests.model.sizes import ARCHITECTURES, D_HEAD, K_LENGTH, LENGTH, N_HEADS
from tfmviz.model.attention import Attention
from tfmviz.record.edits import AblateHead, Edit, SetMask
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import Fork, Recorder
from tfmviz.record.trace import NotCaptured

SEE_ITSELF_ONLY = tuple(tuple(i == j for j in range(LENGTH)) for i in range(LENGTH))
SEE_THE_FIRST_ONLY = tuple(tuple(j == 0 for j in range(LENGTH)) for _ in range(LENGTH))


def layers_of(architecture: Architecture) -> tuple[str, ...]:
    return config(architecture=architecture).layers


@each(
    "edits, sites, missing",
    [
        ((), ("logits", "decoder.7.q"), "decoder.7.q"),
        ((), ("*.nothing",), "*.nothing"),
        ((AblateHead(layer="decoder.7.self_attn", head=0),), None, "decoder.7.self_attn.z"),
        ((SetMask(layer="encoder.0.self_attn", mask=((True,),)),), None, "encoder.0.self_attn.mask"),
        ((AblateHead(layer="decoder.0", head=0),), ("logits",), "decoder.0.z"),
    ],
)
def test_a_name_that_fits_nothing_is_answered_with_the_sites_there_are(
    edits: tuple[Edit, ...], sites: tuple[str, ...] | None, missing: str
) -> None:
    model = lively_model()
    with pytest.raises(NotCaptured) as refused:
        record(model, *inputs_of("decoder-only"), edits=edits, sites=sites)
    assert refused.value.site == missing
    for there in (missing, "embed", "decoder.0.self_attn.z", "decoder.1.mlp.out", "logits"):
        assert there in str(refused.value)


@each(
    "n_fused, sites, edits",
    [
        (2, ("logits",), ()),
        (2, ("*.z", "*.mask", "*.resid_post"), ()),
        (2, ("logits",), (AblateHead(layer="decoder.0.self_attn", head=1),)),
        (2, ("logits",), (SetMask(layer="decoder.0.self_attn", mask=SEE_ITSELF_ONLY),)),
        (1, ("decoder.0.self_attn.pattern",), ()),
        (1, ("decoder.1.self_attn.scores", "logits"), ()),
        (0, ("*.pattern",), ()),
        (0, ("*.scores",), (AblateHead(layer="decoder.0.self_attn", head=1),)),
        (0, None, ()),
    ],
)
def test_layers_whose_scores_and_pattern_nobody_wants_take_the_fused_path(
    n_fused: int, sites: tuple[str, ...] | None, edits: tuple[Edit, ...]
) -> None:
    with patch.object(Attention, "attend_fused", autospec=True, side_effect=Attention.attend_fused) as fused:
        record(lively_model(), *inputs_of("decoder-only"), sites=sites, edits=edits)
    assert fused.call_count == n_fused


@dataclass(frozen=True)
class EditPattern:
    """An edit of a kind the library does not have."""

    site: str


PATTERN = cast(Edit, EditPattern("decoder.0.self_attn.pattern"))


@each("tap", [Recorder((PATTERN,), sites=("logits",)), Fork([(PATTERN,), (PATTERN,)])])
def test_an_edit_of_the_pattern_keeps_its_layer_from_the_fused_path(tap: Recorder | Fork) -> None:
    layers = [tap.scope("decoder").scope(layer).scope("self_attn") for layer in "01"]
    assert [layer.watches("scores", "pattern") for layer in layers] == [True, False]
    assert not layers[0].watches("scores")


@each("architecture", ARCHITECTURES)
def test_edits_act_alike_on_both_paths(architecture: Architecture) -> None:
    model, inputs = lively_model(architecture=architecture), inputs_of(architecture)
    layer = next(layer for layer in reversed(layers_of(architecture)) if layer.endswith("self_attn"))
    for edit in (AblateHead(layer=layer, head=2), SetMask(layer=layer, mask=SEE_THE_FIRST_ONLY)):
        stepwise = record(model, *inputs, edits=(edit,))["logits"]
        assert_close(record(model, *inputs, edits=(edit,), sites=("logits",))["logits"], stepwise)
        assert not torch.allclose(record(model, *inputs)["logits"], stepwise, atol=1e-2)


@each("architecture, layer", [(of, layer) for of in ARCHITECTURES for layer in layers_of(of)])
@each("head", range(N_HEADS))
def test_ablation_removes_exactly_one_heads_write(architecture: Architecture, layer: str, head: int) -> None:
    model = lively_model(architecture=architecture, positions="rope")
    plain = record(model, *inputs_of(architecture))
    edited = record(model, *inputs_of(architecture), edits=(AblateHead(layer=layer, head=head),))

    upstream = list(plain)[: list(plain).index(f"{layer}.z")]
    assert_same({site: edited[site] for site in upstream}, {site: plain[site] for site in upstream})

    z, others = plain[f"{layer}.z"], [other for other in range(N_HEADS) if other != head]
    assert torch.equal(edited[f"{layer}.z"][:, others], z[:, others])
    assert (edited[f"{layer}.z"][:, head] == 0).all()

    attention = model.get_submodule(layer.replace(".", ".blocks.", 1))
    assert isinstance(attention, Attention)
    W_O_head = attention.W_O.weight.T[head * D_HEAD : (head + 1) * D_HEAD]  # (d_head, d_model)
    assert_close(edited[f"{layer}.out"], plain[f"{layer}.out"] - z[:, head] @ W_O_head)
    assert not torch.allclose(edited["logits"], plain["logits"], atol=1e-2)


def test_set_mask_gives_what_torch_gives_under_that_mask_and_leaves_other_layers_theirs() -> None:
    model = lively_model(positions="none")
    mask = torch.rand(LENGTH, LENGTH, generator=torch.Generator().manual_seed(6)) < 0.5
    mask |= torch.eye(LENGTH, dtype=torch.bool)
    layer = "decoder.0.self_attn"
    rows = tuple(tuple(row) for row in mask.tolist())
    values = record(model, *inputs_of("decoder-only"), edits=(SetMask(layer=layer, mask=rows),))
    assert torch.equal(values[f"{layer}.mask"], mask)
    assert torch.equal(values["decoder.1.self_attn.mask"], torch.ones(LENGTH, LENGTH).tril().bool())
    q, k, v = (values[f"{layer}.{name}"] for name in "qkv")
    assert_close(values[f"{layer}.z"], F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


def test_set_mask_fits_cross_attention_and_rows_of_nothing_or_another_size_are_refused() -> None:
    model, layer = lively_model(architecture="encoder-decoder"), "decoder.0.cross_attn"
    rows = tuple(tuple(j == i for j in range(K_LENGTH)) for i in range(LENGTH))
    values = record(model, *inputs_of("encoder-decoder"), edits=(SetMask(layer=layer, mask=rows),))
    assert torch.equal(values[f"{layer}.z"], values[f"{layer}.v"][:, :, :LENGTH])
    with pytest.raises(ValueError, match="Row 1 of the mask"):
        SetMask(layer="decoder.0.self_attn", mask=((True, False), (False, False)))
    edit = SetMask(layer="decoder.0.self_attn", mask=((True, False, True), (True, True, True)))
    with pytest.raises(ValueError, match=rf"\(2, 3\).*decoder\.0\.self_attn \({LENGTH}, {LENGTH}\)"):
        record(lively_model(), *inputs_of("decoder-only"), edits=(edit,))


@each("architecture", ARCHITECTURES)
def test_edits_leave_no_trace(architecture: Architecture) -> None:
    """Neither in the weights, nor in the masks that layers share, nor in anything a later run computes."""
    model, inputs = lively_model(architecture=architecture), inputs_of(architecture)
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    before = record(model, *inputs)
    layer = layers_of(architecture)[-1]
    rows = tuple(tuple(j == 0 for j in range(before[f"{layer}.pattern"].shape[-1])) for _ in range(LENGTH))
    record(model, *inputs, edits=(AblateHead(layer=layer, head=0), SetMask(layer=layer, mask=rows)))
    assert_same(record(model, *inputs), before)
    assert_same(dict(model.state_dict()), weights)


class InStep(Recorder):
    """A recorder that waits at every site until its sibling in the other thread is there too."""

    both = Barrier(2)

    def __call__(self, name: str, value: Tensor) -> Tensor:
        self.both.wait(timeout=60)
        return super().__call__(name, value)


def test_two_threads_with_different_edits_get_what_they_get_alone() -> None:
    """One cached model serves everybody: two runs that take turns at every single site do not mix."""
    model, inputs = lively_model(architecture="encoder-decoder"), inputs_of("encoder-decoder")
    edits: tuple[tuple[Edit, ...], ...] = (
        (AblateHead(layer="encoder.0.self_attn", head=0), AblateHead(layer="decoder.1.cross_attn", head=1)),
        (AblateHead(layer="encoder.0.self_attn", head=2), SetMask(layer="decoder.0.self_attn", mask=SEE_ITSELF_ONLY)),
    )
    alone = [record(model, *inputs, edits=each) for each in edits]

    def run(each: tuple[Edit, ...]) -> dict[str, Tensor]:
        with torch.no_grad():
            model(*inputs, tap=(recorder := InStep(each)))
        return recorder.values

    with ThreadPoolExecutor(2) as pool:
        for actual, expected in zip(pool.map(run, edits), alone, strict=True):
            assert_same(actual, expected)
    assert not torch.allclose(alone[0]["logits"], alone[1]["logits"], atol=1e-2)
