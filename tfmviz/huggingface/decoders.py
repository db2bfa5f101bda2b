"""Language models: GPT-2, Pythia (GPT-NeoX), BLOOM and OPT."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tfmviz.huggingface.family import (
    Family,
    Weights,
    embeddings,
    function,
    linear,
    norm,
    pairs,
    plain_context,
    reordered,
    theta,
    turned_width,
)
from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig

BUFFERS = ("*.attn.bias", "*.attn.masked_bias", "*.attention.bias", "*.attention.masked_bias", "*.inv_freq")
"""Tables that follow from a formula; old files store them."""

OTHER_HEADS = ("score.*", "classifier.*", "qa_outputs.*", "v_head.*")
"""Heads for other tasks than the next word."""


def _gpt2_shape(theirs: Any, source: Source) -> dict[str, Any]:
    if theirs.add_cross_attention:
        raise Refused("It is a decoder with cross-attention, made for a larger model. It cannot run alone.")
    return {
        "d_model": theirs.n_embd,
        "n_layers": theirs.n_layer,
        "n_heads": theirs.n_head,
        "n_kv_heads": theirs.n_head,
        "d_ff": theirs.n_inner or 4 * theirs.n_embd,
        "norm_eps": theirs.layer_norm_epsilon,
        "feed_forward": function(theirs.activation_function),
        "positions": "learned",
        "score_divisor": None if theirs.scale_attn_weights else 1.0,
        **embeddings(source, theirs, W_E="wte.weight", W_U="lm_head.weight"),
    }


GPT2_LAYER = {"attn.c_proj": "self_attn.W_O", "mlp.c_fc": "mlp.W_in", "mlp.c_proj": "mlp.W_out"}


def _turned(value: Tensor) -> Tensor:
    """A matrix the other way round; a bias as it is."""
    return value if value.ndim == 1 else value.T


def _gpt2_weights(source: Source, theirs: Any, ours: ModelConfig) -> Weights:
    """Its matrices are stored the other way round, and W_Q, W_K, W_V side by side."""
    yield "embedding.W_E", source["wte.weight"]
    if not ours.embeddings.tied:
        yield "embedding.W_U", source["lm_head.weight"]
    yield "decoder.positions.table", source["wpe.weight"][: ours.max_len]
    for n in range(ours.n_layers):
        old, new = f"h.{n}", f"decoder.blocks.{n}"
        scale = 1 / (n + 1) if theirs.scale_attn_by_inverse_layer_idx else 1.0
        for kind in ("weight", "bias"):
            parts = source[f"{old}.attn.c_attn.{kind}"].chunk(3, dim=-1)
            for name, part in zip(("W_Q", "W_K", "W_V"), parts, strict=True):
                folded = part.float() * scale if name == "W_Q" and scale != 1 else part
                yield f"{new}.self_attn.{name}.{kind}", _turned(folded)
            for inside, outside in GPT2_LAYER.items():
                yield f"{new}.{outside}.{kind}", _turned(source[f"{old}.{inside}.{kind}"])
        yield from norm(source, f"{old}.ln_1", f"{new}.self_attn_residual.norm")
        yield from norm(source, f"{old}.ln_2", f"{new}.mlp_residual.norm")
    yield from norm(source, "ln_f", "decoder.norm")


def _neox_shape(theirs: Any, source: Source) -> dict[str, Any]:
    d_head = theirs.hidden_size // theirs.num_attention_heads
    return {
        "d_model": theirs.hidden_size,
        "n_layers": theirs.num_hidden_layers,
        "n_heads": theirs.num_attention_heads,
        "n_kv_heads": theirs.num_attention_heads,
        "d_ff": theirs.intermediate_size,
        "norm_eps": theirs.layer_norm_eps,
        "residual": "parallel" if theirs.use_parallel_residual else "sequential",
        "feed_forward": function(theirs.hidden_act),
        "positions": "rope",
        "rope_theta": theta(theirs, d_head),
        **embeddings(source, theirs, W_E="embed_in.weight", W_U=_neox_head(source)),
    }


def _neox_head(source: Source) -> str:
    """The library renamed it; files on the Hub have the old name."""
    return "embed_out.weight" if "embed_out.weight" in source else "lm_head.weight"


def _neox_weights(source: Source, theirs: Any, ours: ModelConfig) -> Weights:
    yield "embedding.W_E", source["embed_in.weight"]
    if not ours.embeddings.tied:
        yield "embedding.W_U", source[_neox_head(source)]
    order = pairs(ours.d_head, turned_width(theirs, ours.d_head))
    for n in range(ours.n_layers):
        old, new = f"layers.{n}", f"decoder.blocks.{n}"
        for kind in ("weight", "bias"):
            for name, part in _interleaved(source, f"{old}.attention.query_key_value.{kind}", ours):
                yield f"{new}.self_attn.{name}.{kind}", part if name == "W_V" else reordered(part, order, ours.d_head)
        yield from linear(source, f"{old}.attention.dense", f"{new}.self_attn.W_O")
        yield from linear(source, f"{old}.mlp.dense_h_to_4h", f"{new}.mlp.W_in")
        yield from linear(source, f"{old}.mlp.dense_4h_to_h", f"{new}.mlp.W_out")
        yield from norm(source, f"{old}.input_layernorm", f"{new}.self_attn_residual.norm")
        yield from norm(source, f"{old}.post_attention_layernorm", f"{new}.mlp_residual.norm")
    yield from norm(source, "final_layer_norm", "decoder.norm")


def _interleaved(source: Source, name: str, ours: ModelConfig) -> list[tuple[str, Tensor]]:
    """W_Q, W_K, W_V from one tensor whose rows are ordered by head, then by these three, then by coordinate."""
    if name not in source and name.endswith(".bias"):
        zero = source[name.replace(".bias", ".weight")].new_zeros(ours.d_model)
        return [(part, zero) for part in ("W_Q", "W_K", "W_V")]
    rows = source[name].unflatten(0, (ours.attention.n_heads, 3, ours.d_head))
    return [(part, rows[:, n].flatten(0, 1)) for n, part in enumerate(("W_Q", "W_K", "W_V"))]


def _bloom_shape(theirs: Any, source: Source) -> dict[str, Any]:
    if theirs.apply_residual_connection_post_layernorm:
        raise Refused("Its stream goes through the norms (apply_residual_connection_post_layernorm); unknown here.")
    return {
        "d_model": theirs.hidden_size,
        "n_layers": theirs.n_layer,
        "n_heads": theirs.n_head,
        "n_kv_heads": theirs.n_head,
        "d_ff": 4 * theirs.hidden_size,
        "norm_eps": theirs.layer_norm_epsilon,
        "feed_forward": "gelu_tanh",
        "positions": "alibi",
        "embedding_norm": "present",
        **embeddings(source, theirs, W_E="word_embeddings.weight", W_U="lm_head.weight"),
    }


def _bloom_weights(source: Source, theirs: Any, ours: ModelConfig) -> Weights:
    yield "embedding.W_E", source["word_embeddings.weight"]
    if not ours.embeddings.tied:
        yield "embedding.W_U", source["lm_head.weight"]
    yield from norm(source, "word_embeddings_layernorm", "decoder.embed_norm")
    for n in range(ours.n_layers):
        old, new = f"h.{n}", f"decoder.blocks.{n}"
        for kind in ("weight", "bias"):
            for name, part in _interleaved(source, f"{old}.self_attention.query_key_value.{kind}", ours):
                yield f"{new}.self_attn.{name}.{kind}", part
        yield from linear(source, f"{old}.self_attention.dense", f"{new}.self_attn.W_O")
        yield from linear(source, f"{old}.mlp.dense_h_to_4h", f"{new}.mlp.W_in")
        yield from linear(source, f"{old}.mlp.dense_4h_to_h", f"{new}.mlp.W_out")
        yield from norm(source, f"{old}.input_layernorm", f"{new}.self_attn_residual.norm")
        yield from norm(source, f"{old}.post_attention_layernorm", f"{new}.mlp_residual.norm")
    yield from norm(source, "ln_f", "decoder.norm")


def _opt_shape(theirs: Any, source: Source) -> dict[str, Any]:
    if theirs._remove_final_layer_norm or not theirs.layer_norm_elementwise_affine:
        raise Refused("Its norms are those of a draft of OPT, before July 2022. Take a later version of the model.")
    tying = embeddings(source, theirs, W_E="decoder.embed_tokens.weight", W_U="lm_head.weight")
    projected = "decoder.project_in.weight" in source
    return {
        "d_model": theirs.hidden_size,
        "n_layers": theirs.num_hidden_layers,
        "n_heads": theirs.num_attention_heads,
        "n_kv_heads": theirs.num_attention_heads,
        "d_ff": theirs.ffn_dim,
        "norm_position": "pre" if theirs.do_layer_norm_before else "post",
        "feed_forward": function(theirs.activation_function),
        "positions": "learned",
        **(tying | {"embeddings": "untied"} if projected else tying),
    }


def _opt_weights(source: Source, theirs: Any, ours: ModelConfig) -> Weights:
    """Its smallest post-norm model has narrow embeddings, W_E · project_in, and the same on the way out."""
    W_E = source["decoder.embed_tokens.weight"]
    W_U = source["lm_head.weight" if "lm_head.weight" in source else "decoder.embed_tokens.weight"]
    if "decoder.project_in.weight" in source:
        yield "embedding.W_E", W_E.float() @ source["decoder.project_in.weight"].float().T
        yield "embedding.W_U", W_U.float() @ source["decoder.project_out.weight"].float()
    else:
        yield "embedding.W_E", W_E
        if not ours.embeddings.tied:
            yield "embedding.W_U", W_U
    yield "decoder.positions.table", source["decoder.embed_positions.weight"][2 : ours.max_len + 2]
    for n in range(ours.n_layers):
        old, new = f"decoder.layers.{n}", f"decoder.blocks.{n}"
        for theirs_name, name in (("q_proj", "W_Q"), ("k_proj", "W_K"), ("v_proj", "W_V"), ("out_proj", "W_O")):
            yield from linear(source, f"{old}.self_attn.{theirs_name}", f"{new}.self_attn.{name}")
        yield from linear(source, f"{old}.fc1", f"{new}.mlp.W_in")
        yield from linear(source, f"{old}.fc2", f"{new}.mlp.W_out")
        yield from norm(source, f"{old}.self_attn_layer_norm", f"{new}.self_attn_residual.norm")
        yield from norm(source, f"{old}.final_layer_norm", f"{new}.mlp_residual.norm")
    if ours.norm.position == "pre":
        yield from norm(source, "decoder.final_layer_norm", "decoder.norm")


FAMILIES = {
    "gpt2": Family(
        shape=_gpt2_shape,
        weights=_gpt2_weights,
        context=lambda theirs: theirs.n_positions,
        reference="AutoModelForCausalLM",
        prefix="transformer.",
        left_out=BUFFERS + OTHER_HEADS,
    ),
    "gpt_neox": Family(
        shape=_neox_shape,
        weights=_neox_weights,
        context=plain_context,
        reference="AutoModelForCausalLM",
        prefix="gpt_neox.",
        left_out=BUFFERS + OTHER_HEADS,
    ),
    "bloom": Family(
        shape=_bloom_shape,
        weights=_bloom_weights,
        context=lambda theirs: getattr(theirs, "seq_length", 2048),
        reference="AutoModelForCausalLM",
        prefix="transformer.",
        left_out=OTHER_HEADS,
    ),
    "opt": Family(
        shape=_opt_shape,
        weights=_opt_weights,
        context=plain_context,
        reference="AutoModelForCausalLM",
        prefix="model.",
        left_out=OTHER_HEADS,
    ),
}
"""By `model_type`."""
