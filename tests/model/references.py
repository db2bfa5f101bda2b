"""Models of transformers with the weights of ours, for what they write."""

import torch
from torch import Tensor
from transformers import GenerationMixin, MarianConfig, MarianMTModel

from tests.model.helpers import blocks_of
from tests.model.sizes import D_FF, D_MODEL, MAX_LEN, N_HEADS, N_LAYERS, VOCAB
from tfmviz.model.block import Block, Stack
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.record.tap import NO_TAP

MARK = 0
"""Begins and ends every target."""


def marian_of(model: EncoderDecoder) -> GenerationMixin:
    """Marian with the weights of a post-norm translator with sinusoidal positions, ReLU and untied embeddings."""
    sizes = {"layers": N_LAYERS, "attention_heads": N_HEADS, "ffn_dim": D_FF}
    reference = MarianMTModel(
        MarianConfig(
            **{f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in sizes.items()},
            **{"vocab_size": VOCAB, "max_position_embeddings": MAX_LEN, "d_model": D_MODEL},
            **{"activation_function": "relu", "scale_embedding": False, "tie_word_embeddings": False},
            **{"decoder_start_token_id": MARK, "eos_token_id": MARK, "forced_eos_token_id": None},
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
    attention = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}
    names = {f"self_attn.{ours}": f"self_attn.{theirs}" for ours, theirs in attention.items()}
    names |= {f"cross_attn.{ours}": f"encoder_attn.{theirs}" for ours, theirs in attention.items()}
    names |= {"self_attn_residual.norm": "self_attn_layer_norm", "cross_attn_residual.norm": "encoder_attn_layer_norm"}
    names |= {"mlp.W_in": "fc1", "mlp.W_out": "fc2", "mlp_residual.norm": "final_layer_norm"}
    parts = (name.rpartition(".") for name, _ in block.named_parameters())
    return {f"{names[part]}.{kind}": block.get_parameter(f"{part}.{kind}") for part, _, kind in parts}
