"""What a whole model records, and that recording changes nothing."""

from __future__ import annotations

from typing import get_args

import torch

from tests.cases import each
from tests.model.helpers import (
    ARCHITECTURES,
    BATCH,
    D_FF,
    D_HEAD,
    D_MODEL,
    K_LENGTH,
    LENGTH,
    N_HEADS,
    SCHEMES,
    VOCAB,
    assert_close,
    inputs_of,
    lively_model,
    record,
    token_ids,
)
from tfmviz.positions import schemes
from tfmviz.record.facts import Architecture, NormPosition
from tfmviz.record.tap import STEPWISE, Recorder

every_architecture = each("architecture", ARCHITECTURES)


every_scheme = each("scheme", SCHEMES)


# Sites.


def test_sites_of_a_decoder_only_model_with_rope() -> None:
    values = record(lively_model(n_layers=1, n_kv_heads=1, positions="rope"), token_ids(LENGTH))
    stream, inner = (BATCH, LENGTH, D_MODEL), (BATCH, LENGTH, D_FF)
    heads, kv_heads = (BATCH, N_HEADS, LENGTH, D_HEAD), (BATCH, 1, LENGTH, D_HEAD)
    square = (BATCH, N_HEADS, LENGTH, LENGTH)
    assert [(site, tuple(value.shape)) for site, value in values.items()] == [
        ("embed", stream),
        ("decoder.0.resid_pre", stream),
        ("decoder.0.self_attn.norm", stream),
        ("decoder.0.self_attn.q", heads),
        ("decoder.0.self_attn.k", kv_heads),
        ("decoder.0.self_attn.v", kv_heads),
        ("decoder.0.self_attn.rot_q", heads),
        ("decoder.0.self_attn.rot_k", kv_heads),
        ("decoder.0.self_attn.mask", (LENGTH, LENGTH)),
        ("decoder.0.self_attn.scores", square),
        ("decoder.0.self_attn.pattern", square),
        ("decoder.0.self_attn.z", heads),
        ("decoder.0.self_attn.out", stream),
        ("decoder.0.resid_mid", stream),
        ("decoder.0.mlp.norm", stream),
        ("decoder.0.mlp.pre", inner),
        ("decoder.0.mlp.post", inner),
        ("decoder.0.mlp.out", stream),
        ("decoder.0.resid_post", stream),
        ("decoder.norm", stream),
        ("logits", (BATCH, LENGTH, VOCAB)),
    ]


SRC, TGT = (BATCH, K_LENGTH, D_MODEL), (BATCH, LENGTH, D_MODEL)
SRC_HEADS, TGT_HEADS = (BATCH, N_HEADS, K_LENGTH, D_HEAD), (BATCH, N_HEADS, LENGTH, D_HEAD)
ENCODER_OF_2017: list[tuple[str, tuple[int, ...]]] = [
    ("encoder.embed", SRC),
    ("encoder.pos_embed", (1, K_LENGTH, D_MODEL)),
    ("encoder.0.resid_pre", SRC),
    ("encoder.0.self_attn.q", SRC_HEADS),
    ("encoder.0.self_attn.k", SRC_HEADS),
    ("encoder.0.self_attn.v", SRC_HEADS),
    ("encoder.0.self_attn.mask", (K_LENGTH, K_LENGTH)),
    ("encoder.0.self_attn.scores", (BATCH, N_HEADS, K_LENGTH, K_LENGTH)),
    ("encoder.0.self_attn.pattern", (BATCH, N_HEADS, K_LENGTH, K_LENGTH)),
    ("encoder.0.self_attn.z", SRC_HEADS),
    ("encoder.0.self_attn.out", SRC),
    ("encoder.0.self_attn.norm", SRC),
    ("encoder.0.resid_mid", SRC),
    ("encoder.0.mlp.pre", (BATCH, K_LENGTH, D_FF)),
    ("encoder.0.mlp.post", (BATCH, K_LENGTH, D_FF)),
    ("encoder.0.mlp.out", SRC),
    ("encoder.0.mlp.norm", SRC),
    ("encoder.0.resid_post", SRC),
]
DECODER_OF_2017: list[tuple[str, tuple[int, ...]]] = [
    ("decoder.embed", TGT),
    ("decoder.pos_embed", (1, LENGTH, D_MODEL)),
    ("decoder.0.resid_pre", TGT),
    ("decoder.0.self_attn.q", TGT_HEADS),
    ("decoder.0.self_attn.k", TGT_HEADS),
    ("decoder.0.self_attn.v", TGT_HEADS),
    ("decoder.0.self_attn.mask", (LENGTH, LENGTH)),
    ("decoder.0.self_attn.scores", (BATCH, N_HEADS, LENGTH, LENGTH)),
    ("decoder.0.self_attn.pattern", (BATCH, N_HEADS, LENGTH, LENGTH)),
    ("decoder.0.self_attn.z", TGT_HEADS),
    ("decoder.0.self_attn.out", TGT),
    ("decoder.0.self_attn.norm", TGT),
    ("decoder.0.resid_mid", TGT),
    ("decoder.0.cross_attn.q", TGT_HEADS),
    ("decoder.0.cross_attn.k", SRC_HEADS),
    ("decoder.0.cross_attn.v", SRC_HEADS),
    ("decoder.0.cross_attn.mask", (LENGTH, K_LENGTH)),
    ("decoder.0.cross_attn.scores", (BATCH, N_HEADS, LENGTH, K_LENGTH)),
    ("decoder.0.cross_attn.pattern", (BATCH, N_HEADS, LENGTH, K_LENGTH)),
    ("decoder.0.cross_attn.z", TGT_HEADS),
    ("decoder.0.cross_attn.out", TGT),
    ("decoder.0.cross_attn.norm", TGT),
    ("decoder.0.resid_cross", TGT),
    ("decoder.0.mlp.pre", (BATCH, LENGTH, D_FF)),
    ("decoder.0.mlp.post", (BATCH, LENGTH, D_FF)),
    ("decoder.0.mlp.out", TGT),
    ("decoder.0.mlp.norm", TGT),
    ("decoder.0.resid_post", TGT),
    ("logits", (BATCH, LENGTH, VOCAB)),
]


def test_sites_of_the_encoder_decoder_of_2017() -> None:
    """post-norm: each norm comes after the layer has written, and there is none at the end of a stack."""
    model = lively_model(
        architecture="encoder-decoder", n_layers=1, positions="sinusoidal", norm_position="post", feed_forward="relu"
    )
    values = record(model, *inputs_of("encoder-decoder"))
    found = [(site, tuple(value.shape)) for site, value in values.items()]
    assert found == ENCODER_OF_2017 + DECODER_OF_2017


@every_architecture
def test_what_a_swiglu_model_adds_to_the_sites_is_the_gate(architecture: Architecture) -> None:
    plain, gated = (
        record(lively_model(architecture=architecture, feed_forward=kind), *inputs_of(architecture))
        for kind in ("gelu", "swiglu")
    )
    assert [site for site in gated if not site.endswith(".gate")] == list(plain)
    assert sum(site.endswith(".mlp.gate") for site in gated) == sum(site.endswith(".mlp.pre") for site in plain)


@every_architecture
@every_scheme
def test_what_a_position_scheme_adds_to_the_sites(architecture: Architecture, scheme: str) -> None:
    inputs = inputs_of(architecture)
    none = record(lively_model(architecture=architecture, positions="none"), *inputs)
    values = record(lively_model(architecture=architecture, positions=scheme), *inputs)
    added = {site.rsplit(".", 1)[-1] for site in values if site not in none}
    sites = {"embed": {"pos_embed"}, "rotate": {"rot_q", "rot_k"}, "bias": set(), None: set()}
    assert added == sites[schemes.SCHEMES[scheme].acts]
    assert not any("cross_attn.rot" in site for site in values)


@every_architecture
def test_values_are_float32_and_masks_bool(architecture: Architecture) -> None:
    for site, value in record(lively_model(architecture=architecture), *inputs_of(architecture)).items():
        assert value.dtype == (torch.bool if site.endswith(".mask") else torch.float32)


# Recording.


@every_architecture
@every_scheme
def test_recording_changes_nothing(architecture: Architecture, scheme: str) -> None:
    model, inputs = lively_model(architecture=architecture, positions=scheme), inputs_of(architecture)
    recorder = Recorder()
    with torch.no_grad():
        recorded = model(*inputs, tap=recorder)
        stepwise = model(*inputs, tap=STEPWISE)
        fused = model(*inputs)
    assert torch.equal(recorded, stepwise)
    assert torch.equal(recorder.values["logits"], recorded)
    assert_close(fused, recorded)


@each("norm_position", get_args(NormPosition))
@each("n_kv_heads", [N_HEADS, 1])
@each("feed_forward", ["relu", "swiglu"])
def test_recording_changes_nothing_in_any_kind_of_block(norm_position: str, n_kv_heads: int, feed_forward: str) -> None:
    model = lively_model(
        architecture="encoder-decoder",
        norm_position=norm_position,
        norm="rms",
        n_kv_heads=n_kv_heads,
        feed_forward=feed_forward,
    )
    inputs, src_lengths = inputs_of("encoder-decoder"), torch.tensor([K_LENGTH, 5])
    values = record(model, *inputs, src_lengths=src_lengths)
    with torch.no_grad():
        assert torch.equal(model(*inputs, tap=STEPWISE, src_lengths=src_lengths), values["logits"])
        assert_close(model(*inputs, src_lengths=src_lengths), values["logits"])
