"""Whole models: against Hugging Face's GPT-2, the sites they record, and the laws every transformer obeys."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from tests.model_helpers import (
    ARCHITECTURES,
    BATCH,
    D_FF,
    D_HEAD,
    D_MODEL,
    K_LENGTH,
    LENGTH,
    MAX_LEN,
    N_HEADS,
    N_LAYERS,
    SCHEMES,
    VOCAB,
    assert_close,
    blocks_of,
    config,
    inputs_of,
    lively,
    lively_model,
    record,
    token_ids,
)
from tfmviz import masks
from tfmviz.model.block import Stack
from tfmviz.model.config import Architecture, ModelConfig, PositionScheme
from tfmviz.model.feed_forward import FeedForward
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly, build, full_mask
from tfmviz.tap import NO_TAP, STEPWISE, PassThrough, Recorder

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
both_paths = pytest.mark.parametrize("tap", [NO_TAP, STEPWISE], ids=["fused", "stepwise"])

# Against Hugging Face.


def gpt2_of(model: DecoderOnly) -> GPT2LMHeadModel:
    """GPT-2 with the weights of a model with learned positions; Hugging Face keeps its matrices transposed."""
    reference = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCAB,
            n_positions=MAX_LEN,
            n_embd=D_MODEL,
            n_layer=N_LAYERS,
            n_head=N_HEADS,
            n_inner=D_FF,
            activation_function="gelu",
            bos_token_id=0,
            eos_token_id=0,
        )
    )
    stack = model.decoder
    assert stack.norm is not None
    weights: dict[str, Tensor] = {
        "wte.weight": model.embedding.W_E,
        "wpe.weight": stack.positions.get_parameter("table"),
        "ln_f.weight": stack.norm.get_parameter("weight"),
        "ln_f.bias": stack.norm.get_parameter("bias"),
    }
    for index, block in enumerate(blocks_of(stack)):
        attention, mlp = block.self_attn, block.mlp
        assert isinstance(mlp, FeedForward)
        projections = (attention.W_Q, attention.W_K, attention.W_V)
        assert block.mlp_residual is not None
        weights |= {
            f"h.{index}.ln_1.weight": block.self_attn_residual.norm.get_parameter("weight"),
            f"h.{index}.ln_1.bias": block.self_attn_residual.norm.get_parameter("bias"),
            f"h.{index}.attn.c_attn.weight": torch.cat([linear.weight.T for linear in projections], dim=1),
            f"h.{index}.attn.c_attn.bias": torch.cat([linear.bias for linear in projections]),
            f"h.{index}.attn.c_proj.weight": attention.W_O.weight.T,
            f"h.{index}.attn.c_proj.bias": attention.W_O.bias,
            f"h.{index}.ln_2.weight": block.mlp_residual.norm.get_parameter("weight"),
            f"h.{index}.ln_2.bias": block.mlp_residual.norm.get_parameter("bias"),
            f"h.{index}.mlp.c_fc.weight": mlp.W_in.weight.T,
            f"h.{index}.mlp.c_fc.bias": mlp.W_in.bias,
            f"h.{index}.mlp.c_proj.weight": mlp.W_out.weight.T,
            f"h.{index}.mlp.c_proj.bias": mlp.W_out.bias,
        }
    reference.transformer.load_state_dict(weights)
    reference.set_attn_implementation("eager")  # the one that hands out patterns
    reference.train(False)
    return reference


def test_decoder_only_equals_gpt2() -> None:
    """Logits, every attention pattern and the residual stream after every layer."""
    model = lively(DecoderOnly(config(positions="learned")))
    ids = token_ids(LENGTH)
    values = record(model, ids)
    with torch.no_grad():
        gpt2 = gpt2_of(model)(ids, output_attentions=True, output_hidden_states=True)

    assert_close(values["logits"], gpt2.logits)
    assert len(gpt2.attentions) == N_LAYERS
    for layer, pattern in enumerate(gpt2.attentions):
        assert_close(values[f"decoder.{layer}.self_attn.pattern"], pattern)
    streams = [values[f"decoder.{layer}.resid_pre"] for layer in range(N_LAYERS)] + [values["decoder.norm"]]
    for ours, theirs in zip(streams, gpt2.hidden_states, strict=True):
        assert_close(ours, theirs)


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


def test_sites_of_the_encoder_decoder_of_2017() -> None:
    """post-norm: each norm comes after the layer has written, and there is none at the end of a stack."""
    model = lively_model(
        architecture="encoder-decoder", n_layers=1, positions="sinusoidal", norm_position="post", feed_forward="relu"
    )
    values = record(model, *inputs_of("encoder-decoder"))
    src, tgt = (BATCH, K_LENGTH, D_MODEL), (BATCH, LENGTH, D_MODEL)
    src_heads, tgt_heads = (BATCH, N_HEADS, K_LENGTH, D_HEAD), (BATCH, N_HEADS, LENGTH, D_HEAD)
    assert [(site, tuple(value.shape)) for site, value in values.items()] == [
        ("encoder.embed", src),
        ("encoder.pos_embed", (1, K_LENGTH, D_MODEL)),
        ("encoder.0.resid_pre", src),
        ("encoder.0.self_attn.q", src_heads),
        ("encoder.0.self_attn.k", src_heads),
        ("encoder.0.self_attn.v", src_heads),
        ("encoder.0.self_attn.mask", (K_LENGTH, K_LENGTH)),
        ("encoder.0.self_attn.scores", (BATCH, N_HEADS, K_LENGTH, K_LENGTH)),
        ("encoder.0.self_attn.pattern", (BATCH, N_HEADS, K_LENGTH, K_LENGTH)),
        ("encoder.0.self_attn.z", src_heads),
        ("encoder.0.self_attn.out", src),
        ("encoder.0.self_attn.norm", src),
        ("encoder.0.resid_mid", src),
        ("encoder.0.mlp.pre", (BATCH, K_LENGTH, D_FF)),
        ("encoder.0.mlp.post", (BATCH, K_LENGTH, D_FF)),
        ("encoder.0.mlp.out", src),
        ("encoder.0.mlp.norm", src),
        ("encoder.0.resid_post", src),
        ("decoder.embed", tgt),
        ("decoder.pos_embed", (1, LENGTH, D_MODEL)),
        ("decoder.0.resid_pre", tgt),
        ("decoder.0.self_attn.q", tgt_heads),
        ("decoder.0.self_attn.k", tgt_heads),
        ("decoder.0.self_attn.v", tgt_heads),
        ("decoder.0.self_attn.mask", (LENGTH, LENGTH)),
        ("decoder.0.self_attn.scores", (BATCH, N_HEADS, LENGTH, LENGTH)),
        ("decoder.0.self_attn.pattern", (BATCH, N_HEADS, LENGTH, LENGTH)),
        ("decoder.0.self_attn.z", tgt_heads),
        ("decoder.0.self_attn.out", tgt),
        ("decoder.0.self_attn.norm", tgt),
        ("decoder.0.resid_mid", tgt),
        ("decoder.0.cross_attn.q", tgt_heads),
        ("decoder.0.cross_attn.k", src_heads),
        ("decoder.0.cross_attn.v", src_heads),
        ("decoder.0.cross_attn.mask", (LENGTH, K_LENGTH)),
        ("decoder.0.cross_attn.scores", (BATCH, N_HEADS, LENGTH, K_LENGTH)),
        ("decoder.0.cross_attn.pattern", (BATCH, N_HEADS, LENGTH, K_LENGTH)),
        ("decoder.0.cross_attn.z", tgt_heads),
        ("decoder.0.cross_attn.out", tgt),
        ("decoder.0.cross_attn.norm", tgt),
        ("decoder.0.resid_cross", tgt),
        ("decoder.0.mlp.pre", (BATCH, LENGTH, D_FF)),
        ("decoder.0.mlp.post", (BATCH, LENGTH, D_FF)),
        ("decoder.0.mlp.out", tgt),
        ("decoder.0.mlp.norm", tgt),
        ("decoder.0.resid_post", tgt),
        ("logits", (BATCH, LENGTH, VOCAB)),
    ]


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
def test_what_a_position_scheme_adds_to_the_sites(architecture: Architecture, scheme: PositionScheme) -> None:
    inputs = inputs_of(architecture)
    none = record(lively_model(architecture=architecture, positions="none"), *inputs)
    values = record(lively_model(architecture=architecture, positions=scheme), *inputs)
    added = {site.rsplit(".", 1)[-1] for site in values if site not in none}
    assert added == {"learned": {"pos_embed"}, "sinusoidal": {"pos_embed"}, "rope": {"rot_q", "rot_k"}}.get(
        scheme, set()
    )
    assert not any("cross_attn.rot" in site for site in values)


@every_architecture
def test_values_are_float32_and_masks_bool(architecture: Architecture) -> None:
    for site, value in record(lively_model(architecture=architecture), *inputs_of(architecture)).items():
        assert value.dtype == (torch.bool if site.endswith(".mask") else torch.float32)


# Recording.


@every_architecture
@every_scheme
def test_recording_changes_nothing(architecture: Architecture, scheme: PositionScheme) -> None:
    model, inputs = lively_model(architecture=architecture, positions=scheme), inputs_of(architecture)
    recorder = Recorder()
    with torch.no_grad():
        recorded = model(*inputs, tap=recorder)
        stepwise = model(*inputs, tap=STEPWISE)
        fused = model(*inputs)
    assert torch.equal(recorded, stepwise)
    assert torch.equal(recorder.values["logits"], recorded)
    assert_close(fused, recorded)


@pytest.mark.parametrize("norm_position", ["pre", "post"])
@pytest.mark.parametrize("n_kv_heads", [N_HEADS, 1])
@pytest.mark.parametrize("feed_forward", ["relu", "swiglu"])
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


# What can depend on what.


def with_other_token(ids: Tensor, position: int) -> Tensor:
    """The same ids but for one position."""
    changed = ids.clone()
    changed[:, position] = (changed[:, position] + 1) % VOCAB
    return changed


def positions_that_differ(before: Tensor, after: Tensor) -> list[bool]:
    """Per position, whether any logit of any sentence is another number."""
    return [not torch.equal(before[:, i], after[:, i]) for i in range(before.shape[1])]


@every_scheme
@both_paths
@torch.no_grad()
def test_the_future_cannot_change_the_past(scheme: PositionScheme, tap: PassThrough) -> None:
    model, ids = lively(DecoderOnly(config(positions=scheme))), token_ids(LENGTH)
    for j in range(LENGTH):
        differ = positions_that_differ(model(ids, tap), model(with_other_token(ids, j), tap))
        assert differ == [False] * j + [True] * (LENGTH - j)


@every_scheme
@both_paths
@torch.no_grad()
def test_a_translations_future_cannot_change_its_past(scheme: PositionScheme, tap: PassThrough) -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder", positions=scheme)))
    src, tgt = inputs_of("encoder-decoder")
    for j in range(LENGTH):
        differ = positions_that_differ(model(src, tgt, tap), model(src, with_other_token(tgt, j), tap))
        assert differ == [False] * j + [True] * (LENGTH - j)


@every_scheme
@both_paths
@torch.no_grad()
def test_every_source_token_can_change_the_whole_translation(scheme: PositionScheme, tap: PassThrough) -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder", positions=scheme)))
    src, tgt = inputs_of("encoder-decoder")
    for j in range(K_LENGTH):
        assert all(positions_that_differ(model(src, tgt, tap), model(with_other_token(src, j), tgt, tap)))


@every_scheme
@both_paths
@torch.no_grad()
def test_an_encoder_sees_the_future(scheme: PositionScheme, tap: PassThrough) -> None:
    model, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    for j in range(LENGTH):
        assert all(positions_that_differ(model(ids, tap), model(with_other_token(ids, j), tap)))


@every_architecture
@torch.no_grad()
def test_only_encoders_tell_left_from_right_in_t5_bias(architecture: Architecture) -> None:
    """A decoder never sees keys to the right and spends no bucket on them: all are taken for distance 0."""
    model = lively_model(architecture=architecture, positions="t5")
    to_the_right = ~masks.causal(MAX_LEN)
    for name, stack in model.named_children():
        if isinstance(stack, Stack):
            bias = stack.positions.bias(MAX_LEN, MAX_LEN)
            assert bias is not None
            at_distance_0 = bias[:, :1, :1].expand_as(bias)
            is_ignored = torch.equal(bias[:, to_the_right], at_distance_0[:, to_the_right])
            assert is_ignored is (name == "decoder")
            assert not torch.equal(bias[:, ~to_the_right], at_distance_0[:, ~to_the_right])


@every_scheme
@torch.no_grad()
def test_only_without_positions_is_a_text_a_bag_of_words(scheme: PositionScheme) -> None:
    """Without positions, permuting an encoder's tokens permutes its outputs and does nothing else."""
    model, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    order = torch.tensor([3, 1, 4, 0, 6, 2, 5])
    permuted, expected = model(ids[:, order]), model(ids)[:, order]
    if scheme == "none":
        assert_close(permuted, expected)
    else:
        assert not torch.allclose(permuted, expected, atol=1e-2)


@torch.no_grad()
def test_sentences_of_a_batch_do_not_meet() -> None:
    model, ids = lively_model(), token_ids(LENGTH)
    for sentence in range(BATCH):
        assert_close(model(ids[sentence : sentence + 1]), model(ids)[sentence : sentence + 1])


# Padding.


@every_scheme
@both_paths
@torch.no_grad()
def test_a_padded_source_is_translated_as_alone(scheme: PositionScheme, tap: PassThrough) -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder", positions=scheme)))
    src, tgt = inputs_of("encoder-decoder")
    lengths = torch.tensor([5, K_LENGTH])
    together = model(src, tgt, tap, src_lengths=lengths)
    for sentence, length in enumerate(lengths.tolist()):
        alone = model(src[sentence : sentence + 1, :length], tgt[sentence : sentence + 1], tap)
        assert_close(together[sentence : sentence + 1], alone)
    assert not torch.allclose(together[:1], model(src, tgt, tap)[:1], atol=1e-2)


@every_scheme
@both_paths
@torch.no_grad()
def test_a_padded_text_is_encoded_as_alone(scheme: PositionScheme, tap: PassThrough) -> None:
    model, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    lengths = torch.tensor([LENGTH, 3])
    together = model(ids, tap, lengths=lengths)
    for sentence, length in enumerate(lengths.tolist()):
        alone = model(ids[sentence : sentence + 1, :length], tap)
        assert_close(together[sentence : sentence + 1, :length], alone)


def test_nobody_attends_to_padding() -> None:
    model = lively_model(architecture="encoder-decoder")
    values = record(model, *inputs_of("encoder-decoder"), src_lengths=torch.tensor([5, K_LENGTH]))
    for site, pattern in values.items():
        if site.endswith(".pattern") and pattern.shape[-1] == K_LENGTH:
            assert (pattern[0, :, :, 5:] == 0).all()
            assert (pattern[0, :, :, :5] > 0).all()
            assert (pattern[1] > 0).all()


@every_architecture
@pytest.mark.parametrize("n_kv_heads", [N_HEADS, 1])
def test_patterns_of_whole_models_are_distributions(architecture: Architecture, n_kv_heads: int) -> None:
    values = record(lively_model(architecture=architecture, n_kv_heads=n_kv_heads), *inputs_of(architecture))
    for layer in config(architecture=architecture).layers:
        pattern, mask = values[f"{layer}.pattern"], values[f"{layer}.mask"]
        assert_close(pattern.sum(-1), torch.ones(pattern.shape[:-1]))
        assert (pattern[~mask.expand_as(pattern)] == 0).all()


# Embeddings.


@every_architecture
def test_tied_logits_are_products_with_the_embeddings(architecture: Architecture) -> None:
    model = lively_model(architecture=architecture)
    values = record(model, *inputs_of(architecture))
    last = values["encoder.norm" if architecture == "encoder-only" else "decoder.norm"]
    assert model.embedding.W_U is None
    assert_close(values["logits"], last @ model.embedding.W_E.T)


@every_architecture
def test_untied_logits_have_a_matrix_of_their_own(architecture: Architecture) -> None:
    model = lively_model(architecture=architecture, embeddings="untied")
    values = record(model, *inputs_of(architecture))
    last = values["encoder.norm" if architecture == "encoder-only" else "decoder.norm"]
    assert model.embedding.W_U is not None
    assert_close(values["logits"], last @ model.embedding.W_U.T)
    assert not torch.allclose(values["logits"], last @ model.embedding.W_E.T, atol=1e-2)


@pytest.mark.parametrize(("embedding_scale", "factor"), [("one", 1.0), ("sqrt_d_model", math.sqrt(D_MODEL))])
@every_architecture
def test_embeddings_are_rows_of_the_table_scaled(
    architecture: Architecture, embedding_scale: str, factor: float
) -> None:
    model, inputs = lively_model(architecture=architecture, embedding_scale=embedding_scale), inputs_of(architecture)
    values = record(model, *inputs)
    sites = ["encoder.embed", "decoder.embed"] if architecture == "encoder-decoder" else ["embed"]
    for site, ids in zip(sites, inputs, strict=True):
        assert_close(values[site], factor * model.embedding.W_E[ids])


# Building.


@every_architecture
def test_build_builds_the_architecture_of_the_config(architecture: Architecture) -> None:
    model = build(config(architecture=architecture))
    kinds = {"decoder-only": DecoderOnly, "encoder-only": EncoderOnly, "encoder-decoder": EncoderDecoder}
    assert type(model) is kinds[architecture]
    assert model.config == config(architecture=architecture)


@every_architecture
def test_initial_weights_are_gpt2s(architecture: Architecture) -> None:
    torch.manual_seed(7)
    model = build(
        ModelConfig(
            architecture=architecture,
            vocab_size=997,
            max_len=MAX_LEN,
            d_model=128,
            n_layers=3,
            n_heads=2,
            n_kv_heads=2,
            d_ff=256,
            embeddings="untied",
            positions="learned",
        )
    )
    n_writes = {"decoder-only": 6, "encoder-only": 6, "encoder-decoder": 15}[architecture]
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            assert torch.equal(weight, torch.full_like(weight, float(name.endswith("norm.weight"))))
        else:
            writes = name.endswith(("W_O.weight", "W_out.weight"))
            assert weight.std().item() == pytest.approx(0.02 / math.sqrt(n_writes) if writes else 0.02, rel=0.1)
            assert abs(weight.mean().item()) < 0.02 / 10


@torch.no_grad()
def test_encode_then_decode_is_forward() -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder")))
    src, tgt = inputs_of("encoder-decoder")
    lengths = torch.tensor([5, K_LENGTH])
    memory = model.encode(src, src_lengths=lengths)
    assert memory.shape == (BATCH, K_LENGTH, D_MODEL)
    assert_close(
        model.decode(tgt, memory, memory_mask=full_mask(tgt, src, lengths)), model(src, tgt, src_lengths=lengths)
    )


def test_cross_attention_reads_the_encoders_output() -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder")))
    values = record(model, *inputs_of("encoder-decoder"))
    for layer, block in enumerate(blocks_of(model.decoder)):
        assert block.cross_attn is not None
        for site, linear in (("k", block.cross_attn.W_K), ("v", block.cross_attn.W_V)):
            expected = F.linear(values["encoder.norm"], linear.weight, linear.bias)
            assert_close(values[f"decoder.{layer}.cross_attn.{site}"].transpose(1, 2).flatten(2), expected)
