"""Whole models: against Hugging Face's GPT-2, their embeddings, and how they are built."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from tests.cases import each
from tests.model.helpers import (
    ARCHITECTURES,
    BATCH,
    D_FF,
    D_MODEL,
    K_LENGTH,
    LENGTH,
    MAX_LEN,
    N_HEADS,
    N_LAYERS,
    VOCAB,
    assert_close,
    blocks_of,
    config,
    flat,
    inputs_of,
    lively,
    lively_model,
    record,
    token_ids,
)
from tfmviz.model.feed_forward import FeedForward
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly, build, full_mask
from tfmviz.record.facts import Architecture

every_architecture = each("architecture", ARCHITECTURES)


# Against Hugging Face.


def weights_of(model: DecoderOnly) -> dict[str, Tensor]:
    """The weights of a model with learned positions under GPT-2's names; Hugging Face keeps its matrices transposed."""
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
    return weights


def gpt2_of(model: DecoderOnly) -> GPT2LMHeadModel:
    """GPT-2 with the weights of a model with learned positions."""
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
    reference.transformer.load_state_dict(weights_of(model))
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


@each("embedding_scale, factor", [("one", 1.0), ("sqrt_d_model", math.sqrt(D_MODEL))])
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
        flat(
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
