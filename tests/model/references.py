"""Models of transformers with the weights of ours, for what they write."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import GenerationMixin, MarianConfig, MarianMTModel

from tests.model.helpers import D_FF, D_MODEL, MAX_LEN, N_HEADS, N_LAYERS, VOCAB, blocks_of
from tfmviz.model.block import Block, Stack
from tfmviz.model.feed_forward import FeedForward
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.record.tap import NO_TAP

MARK = 0
"""Begins and ends every target."""


def marian_of(model: EncoderDecoder) -> GenerationMixin:
    """Marian with the weights of a post-norm translator with sinusoidal positions, ReLU and untied embeddings."""
    reference = MarianMTModel(
        MarianConfig(
            vocab_size=VOCAB,
            max_position_embeddings=MAX_LEN,
            d_model=D_MODEL,
            encoder_layers=N_LAYERS,
            decoder_layers=N_LAYERS,
            encoder_attention_heads=N_HEADS,
            decoder_attention_heads=N_HEADS,
            encoder_ffn_dim=D_FF,
            decoder_ffn_dim=D_FF,
            activation_function="relu",
            scale_embedding=False,
            tie_word_embeddings=False,
            decoder_start_token_id=MARK,
            eos_token_id=MARK,
            forced_eos_token_id=None,
            pad_token_id=VOCAB - 1,
        )
    )
    weights = {"model.shared.weight": model.embedding.W_E, "final_logits_bias": torch.zeros(1, VOCAB)}
    for side in ("encoder", "decoder"):
        stack = model.get_submodule(side)
        assert isinstance(stack, Stack)
        weights[f"model.{side}.embed_tokens.weight"] = model.embedding.W_E
        nothing = torch.zeros(1, MAX_LEN, D_MODEL)
        weights[f"model.{side}.embed_positions.weight"] = stack.positions.embed(nothing, NO_TAP)[0]
        for index, block in enumerate(blocks_of(stack)):
            weights |= {f"model.{side}.layers.{index}.{name}": w for name, w in _layer(block).items()}
    assert model.embedding.W_U is not None
    weights["lm_head.weight"] = model.embedding.W_U
    reference.load_state_dict(weights)
    reference.train(False)
    return reference


def _layer(block: Block) -> dict[str, Tensor]:
    mlp = block.mlp
    assert isinstance(mlp, FeedForward)
    assert block.mlp_residual is not None
    parts: dict[str, nn.Module] = {
        **_attention("self_attn", block.self_attn),
        "self_attn_layer_norm": block.self_attn_residual.norm,
        "fc1": mlp.W_in,
        "fc2": mlp.W_out,
        "final_layer_norm": block.mlp_residual.norm,
    }
    if block.cross_attn is not None and block.cross_attn_residual is not None:
        parts |= _attention("encoder_attn", block.cross_attn)
        parts["encoder_attn_layer_norm"] = block.cross_attn_residual.norm
    return {f"{name}.{kind}": w for name, part in parts.items() for kind, w in part.named_parameters()}


def _attention(name: str, attention: nn.Module) -> dict[str, nn.Module]:
    names = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}
    return {f"{name}.{theirs}": attention.get_submodule(ours) for ours, theirs in names.items()}
