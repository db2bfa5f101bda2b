"""Language models built like Llama: Mistral, Qwen 2, Qwen 3, Gemma and Gemma 2."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from tfmviz.huggingface.family import (
    Family,
    Weights,
    embeddings,
    function,
    linear,
    norm,
    pairs,
    plain_context,
    projection,
    theta,
    turned_width,
    window_of_all,
)
from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig

LEFT_OUT = ("*.inv_freq", "score.*", "classifier.*", "qa_outputs.*", "v_head.*")
"""Tables that follow from a formula, and heads for other tasks than the next word."""


def _llama_shape(theirs: Any, source: Source) -> dict[str, Any]:
    n_heads = theirs.num_attention_heads
    d_head = getattr(theirs, "head_dim", None) or theirs.hidden_size // n_heads
    if (turned := turned_width(theirs, d_head)) != d_head:
        raise Refused(
            f"Its configuration turns {turned} of a head's {d_head} coordinates (partial_rotary_factor); models of the "
            f"type {theirs.model_type!r} turn all."
        )
    return {
        "d_model": theirs.hidden_size,
        "n_layers": theirs.num_hidden_layers,
        "n_heads": n_heads,
        "n_kv_heads": theirs.num_key_value_heads or n_heads,
        "window": window_of_all(theirs),
        "head_width": None if d_head * n_heads == theirs.hidden_size else d_head,
        "d_ff": theirs.intermediate_size,
        "norm": "rms",
        "norm_eps": theirs.rms_norm_eps,
        "feed_forward": function(theirs.hidden_act, gated=True),
        "positions": "rope",
        "rope_theta": theta(theirs, d_head),
        **embeddings(source, theirs, W_E="embed_tokens.weight", W_U="lm_head.weight"),
    }


def _qwen3_shape(theirs: Any, source: Source) -> dict[str, Any]:
    return _llama_shape(theirs, source) | {"qk_norm": "present"}


def _gemma_shape(theirs: Any, source: Source) -> dict[str, Any]:
    """Configurations of the first Gemma say "gelu", but the models were trained with its approximation by tanh."""
    if getattr(theirs, "use_bidirectional_attention", None):
        raise Refused("It is a Gemma that looks both ways, as EmbeddingGemma does. Only its decoders are known here.")
    named = getattr(theirs, "hidden_activation", None) or theirs.hidden_act
    return _llama_shape(_Named(theirs, named), source) | {
        "feed_forward": "geglu_tanh" if named == "gelu" else function(named, gated=True),
        "embedding_scale": "sqrt_d_model",
    }


def _gemma2_shape(theirs: Any, source: Source) -> dict[str, Any]:
    divisor = math.sqrt(theirs.query_pre_attn_scalar)
    return _gemma_shape(theirs, source) | {
        "norm_position": "both",
        "score_divisor": divisor,
        "score_cap": theirs.attn_logit_softcapping,
        "logit_cap": theirs.final_logit_softcapping,
    }


class _Named:
    """Their configuration under which the function has the name that most families give it."""

    def __init__(self, theirs: Any, function: str) -> None:
        self._theirs = theirs
        self.hidden_act = function

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)


def _weights(source: Source, theirs: Any, ours: ModelConfig, *, gain_from_1: bool = False) -> Weights:
    """`gain_from_1`: Gemma stores γ − 1."""

    def gains(theirs_name: str, name: str) -> Weights:
        for part, value in norm(source, theirs_name, name):
            yield part, value.float() + 1 if gain_from_1 else value

    yield "embedding.W_E", source["embed_tokens.weight"]
    if not ours.embeddings.tied:
        yield "embedding.W_U", source["lm_head.weight"]
    after = ("post_attention_layernorm", "post_feedforward_layernorm")
    before = ("input_layernorm", "pre_feedforward_layernorm" if ours.norm.position == "both" else after[0])
    for n in range(ours.n_layers):
        old, new = f"layers.{n}", f"decoder.blocks.{n}"
        yield from _attention(source, f"{old}.self_attn", f"{new}.self_attn", ours)
        for theirs_name, name in (("gate_proj", "W_gate"), ("up_proj", "W_in"), ("down_proj", "W_out")):
            yield from linear(source, f"{old}.mlp.{theirs_name}", f"{new}.mlp.{name}")
        for theirs_name, layer in zip(before, ("self_attn", "mlp"), strict=True):
            yield from gains(f"{old}.{theirs_name}", f"{new}.{layer}_residual.norm")
        if ours.norm.position == "both":
            for theirs_name, layer in zip(after, ("self_attn", "mlp"), strict=True):
                yield from gains(f"{old}.{theirs_name}", f"{new}.{layer}.out_norm")
    yield from gains("norm", "decoder.norm")


def _attention(source: Source, old: str, new: str, ours: ModelConfig) -> Weights:
    order = pairs(ours.d_head)
    yield from projection(source, f"{old}.q_proj", f"{new}.W_Q", order=order, d_head=ours.d_head)
    yield from projection(source, f"{old}.k_proj", f"{new}.W_K", order=order, d_head=ours.d_head)
    yield from linear(source, f"{old}.v_proj", f"{new}.W_V")
    yield from linear(source, f"{old}.o_proj", f"{new}.W_O")
    if ours.attention.qk_norm:
        for name in ("q_norm", "k_norm"):
            yield f"{new}.{name}.weight", source[f"{old}.{name}.weight"][order]


def _family(shape: Any, *, gain_from_1: bool = False) -> Family:
    return Family(
        shape=shape,
        weights=partial(_weights, gain_from_1=gain_from_1),
        context=plain_context,
        reference="AutoModelForCausalLM",
        prefix="model.",
        left_out=LEFT_OUT,
    )


FAMILIES = {
    **{name: _family(_llama_shape) for name in ("llama", "mistral", "qwen2")},
    "qwen3": _family(_qwen3_shape),
    "gemma": _family(_gemma_shape, gain_from_1=True),
    "gemma2": _family(_gemma2_shape, gain_from_1=True),
}
"""By `model_type`."""
