"""Language models built like Llama."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tfmviz.huggingface.family import Family, Weights, embeddings, function
from tfmviz.huggingface.layout import Layout, all_of, with_parts
from tfmviz.huggingface.source import Refused, Source
from tfmviz.huggingface.turning import kinds_of_layers, plain_context, turns, windows
from tfmviz.model.config import ModelConfig

LEFT_OUT = (
    *("*.inv_freq", "*.attn.bias", "*.attn.masked_bias", "*.attention.bias", "*.attention.masked_bias"),
    *("*.causal_mask", "score.*", "classifier.*", "qa_outputs.*", "v_head.*"),
)
"""Tables that follow from a formula, and heads for other tasks."""

EPS = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps")
"""Names of ε; families without one use 10⁻⁵."""

Settings = Callable[[Any], dict[str, Any]]
"""A family's configuration in our words."""

ATTENTION = {
    "self_attn.W_Q": "self_attn.q_proj",
    "self_attn.W_K": "self_attn.k_proj",
    "self_attn.W_V": "self_attn.v_proj",
    "self_attn.W_O": "self_attn.o_proj",
}
NORMS = {"self_attn_residual.norm": "input_layernorm", "mlp_residual.norm": "post_attention_layernorm"}
ONE_NORM = {"self_attn_residual.norm": "input_layernorm", "mlp_residual.norm": "input_layernorm"}
"""Parallel layers share a norm; ours have one each, with equal weights."""
BOTH_NORMS = {
    "self_attn_residual.norm": "input_layernorm",
    "self_attn.out_norm": "post_attention_layernorm",
    "mlp_residual.norm": "pre_feedforward_layernorm",
    "mlp.out_norm": "post_feedforward_layernorm",
}
OUT_NORMS = {"self_attn.out_norm": "post_attention_layernorm", "mlp.out_norm": "post_feedforward_layernorm"}
QK_NORMS = {"self_attn.q_norm": "self_attn.q_norm", "self_attn.k_norm": "self_attn.k_norm"}
GATED = {"mlp.W_gate": "mlp.gate_proj", "mlp.W_in": "mlp.up_proj", "mlp.W_out": "mlp.down_proj"}
JOINED_GATED = {"mlp.W_gate": "mlp.gate_up_proj", "mlp.W_in": "mlp.gate_up_proj", "mlp.W_out": "mlp.down_proj"}
PLAIN = {"mlp.W_in": "mlp.up_proj", "mlp.W_out": "mlp.down_proj"}
OUTSIDE = {"embedding.W_E": "embed_tokens.weight", "embedding.W_U": "lm_head.weight", "norm": "norm"}

LLAMA = Layout(outside=OUTSIDE, layer=ATTENTION | GATED | NORMS)


def _shape(theirs: Any, source: Source, layout: Layout) -> dict[str, Any]:
    """Settings that most families name identically."""
    n_heads, d_model = theirs.num_attention_heads, theirs.hidden_size
    d_head = getattr(theirs, "head_dim", None) or d_model // n_heads
    is_rms = hasattr(theirs, "rms_norm_eps")
    return {
        "d_model": d_model,
        "n_layers": theirs.num_hidden_layers,
        "n_heads": n_heads,
        "n_kv_heads": getattr(theirs, "num_key_value_heads", None) or n_heads,
        "head_width": None if d_head * n_heads == d_model else d_head,
        "norm": "rms" if is_rms else "layer",
        "norm_eps": next((getattr(theirs, name) for name in EPS if hasattr(theirs, name)), 1e-5),
        **windows(theirs),
        **embeddings(source, theirs, W_E=layout.outside["embedding.W_E"], W_U=layout.outside["embedding.W_U"]),
    }


def gated(theirs: Any) -> dict[str, Any]:
    """A gated layer's function and width."""
    return {"feed_forward": function(theirs.hidden_act, gated=True), "d_ff": theirs.intermediate_size}


def plain(theirs: Any) -> dict[str, Any]:
    """The same without a gate, by default four times as wide as the stream."""
    named = getattr(theirs, "hidden_act", None) or theirs.activation_function
    d_ff = getattr(theirs, "intermediate_size", None) or getattr(theirs, "n_inner", None)
    return {"feed_forward": function(named), "d_ff": d_ff or 4 * theirs.hidden_size}


def turning(theirs: Any, *, still: Any = ()) -> dict[str, Any]:
    d_head = getattr(theirs, "head_dim", None) or theirs.hidden_size // theirs.num_attention_heads
    return turns(theirs, d_head, still=still)


def all_turn(theirs: Any) -> dict[str, Any]:
    """Raises: Refused, if the settings turn only a part of the coordinates."""
    rope = getattr(theirs, "rope_parameters", None) or {}
    if (share := rope.get("partial_rotary_factor", 1.0)) != 1.0:
        d_head = getattr(theirs, "head_dim", None) or theirs.hidden_size // theirs.num_attention_heads
        raise Refused(
            f"Its configuration turns {int(d_head * share)} of a head's {d_head} coordinates (partial_rotary_factor); "
            f"models of the type {theirs.model_type!r} turn all."
        )
    return turning(theirs)


def _still_where_global(theirs: Any) -> dict[str, Any]:
    """Layers without the others' window have no positions (Command R7B, EXAONE 4)."""
    everywhere = [n for n, kind in enumerate(kinds_of_layers(theirs)) if kind == "full_attention"]
    return turning(theirs, still=everywhere if theirs.sliding_window else ())


def _still_as_listed(theirs: Any) -> dict[str, Any]:
    return turning(theirs, still=[n for n, turns in enumerate(theirs.no_rope_layers) if not turns])


def _gemma(theirs: Any) -> dict[str, Any]:
    """The first Gemma's configurations name "gelu", but it was trained with the approximation by tanh."""
    named = getattr(theirs, "hidden_activation", None) or theirs.hidden_act
    kind = "geglu_tanh" if named == "gelu" and theirs.model_type == "gemma" else function(named, gated=True)
    return {"feed_forward": kind, "d_ff": theirs.intermediate_size, "embedding_scale": "sqrt_d_model"} | turning(theirs)


def _capped(theirs: Any) -> dict[str, Any]:
    """Gemma 2 and 3."""
    found = {
        "norm_position": "both",
        "score_divisor": math.sqrt(theirs.query_pre_attn_scalar),
        "score_cap": theirs.attn_logit_softcapping,
        "logit_cap": theirs.final_logit_softcapping,
    }
    if getattr(theirs, "use_bidirectional_attention", None):  # EmbeddingGemma
        if theirs.model_type != "gemma3_text":
            raise Refused("It looks both ways (use_bidirectional_attention), which is known of Gemma 3 only.")
        found |= {"architecture": "encoder-only", "head": "none", "embeddings": "tied", "logit_cap": None}
    return _gemma(theirs) | found


def phi(theirs: Any) -> dict[str, Any]:
    return plain(theirs) | turning(theirs) | {"residual": "parallel", "head": "bias"}


def granite(theirs: Any) -> dict[str, Any]:
    """One of four multipliers; see `with_multipliers`."""
    return {"score_divisor": 1 / theirs.attention_multiplier}


def with_multipliers(theirs: Any, name: str) -> float:
    """The other three, which are in the weights."""
    if name == "embedding.W_E":
        return theirs.embedding_multiplier
    if name == "decoder.norm.weight":
        tied = theirs.tie_word_embeddings is not False
        return 1 / (theirs.logits_scaling * (theirs.embedding_multiplier if tied else 1))
    return theirs.residual_multiplier if ".W_O." in name or ".W_out." in name else 1.0


def _cohere(theirs: Any, name: str) -> float:
    return theirs.logit_scale if name == "decoder.norm.weight" else 1.0


def family(
    layout: Layout,
    *settings: Settings,
    refused: Mapping[str, Any] | None = None,
    layout_of: Callable[[Any, Source], Layout] | None = None,
    **more: Any,
) -> Family:
    """A family of language models.

    Args:
        settings: its differences; later ones override earlier ones.
        refused: settings of theirs with their only known value.
        layout_of: the layout, if it depends on their configuration or tensors.
    """

    def shape(theirs: Any, source: Source) -> dict[str, Any]:
        for name, known in (refused or {}).items():
            if (value := getattr(theirs, name, known)) != known:
                raise Refused(f"Its configuration says {name} = {value}; what is known here has {known}.")
        found = _shape(theirs, source, layout_of(theirs, source) if layout_of else layout)
        for more_settings in settings:
            found |= more_settings(theirs)
        return found

    def weights(source: Source, theirs: Any, ours: ModelConfig) -> Weights:
        return (layout_of(theirs, source) if layout_of else layout).weights(source, theirs, ours)

    usual: dict[str, Any] = {
        "context": plain_context,
        "reference": "AutoModelForCausalLM",
        "prefix": "model.",
        "left_out": LEFT_OUT,
        "last": lambda theirs: layout.factor(theirs, "decoder.norm.weight"),
    }
    return Family(shape=shape, weights=weights, **usual | more)


def fixed(**settings: Any) -> Settings:
    return lambda theirs: settings


def _without_gate(*layers: Mapping[str, str], **more: Any) -> Layout:
    names = ATTENTION | NORMS
    for other in layers:
        names |= other
    return replace(LLAMA, layer=names, **more)


COHERE = with_parts(LLAMA, ONE_NORM, in_halves=False, factor=_cohere)
OLMO2 = replace(LLAMA, layer=ATTENTION | GATED | OUT_NORMS | QK_NORMS)
QWEN3 = with_parts(LLAMA, QK_NORMS)
GEMMA2 = with_parts(LLAMA, BOTH_NORMS, gain_from_1=True)


def _stablelm_layout(theirs: Any, source: Source) -> Layout:
    return with_parts(LLAMA, ONE_NORM) if theirs.use_parallel_residual else LLAMA


NO_QK_NORM = {"qk_layernorm": False, "use_qk_norm": False}
FAMILIES = {
    **{
        name: family(LLAMA, gated, all_turn) for name in ("llama", "mistral", "ministral", "ministral3", "qwen2", "cwm")
    },
    "seed_oss": family(LLAMA, gated, all_turn),
    "qwen3": family(QWEN3, gated, all_turn, fixed(qk_norm="present")),
    "smollm3": family(LLAMA, gated, _still_as_listed),
    "olmo": family(
        replace(
            LLAMA,
            outside=OUTSIDE | {"norm": ""},
            layer=ATTENTION | GATED | dict.fromkeys(NORMS, ""),
        ),
        gated,
        all_turn,
        refused={"clip_qkv": None},
    ),
    **{
        name: family(OLMO2, gated, turning, fixed(norm_position="out", qk_norm="all heads"))
        for name in ("olmo2", "olmo3")
    },
    "exaone4": family(OLMO2, gated, _still_where_global, fixed(norm_position="out", qk_norm="present")),
    "gemma": family(replace(LLAMA, gain_from_1=True), _gemma, refused={"use_bidirectional_attention": None}),
    "vaultgemma": family(
        with_parts(LLAMA, {"mlp_residual.norm": "pre_feedforward_layernorm"}, gain_from_1=True),
        _capped,
        fixed(norm_position="pre"),
    ),
    "gemma2": family(GEMMA2, _capped),
    "gemma3_text": family(with_parts(GEMMA2, QK_NORMS), _capped, fixed(qk_norm="present")),
    "phi3": family(with_parts(LLAMA, all_of("self_attn.qkv_proj"), JOINED_GATED), gated, turning),
    "phi": family(
        _without_gate(
            ONE_NORM,
            {"self_attn.W_O": "self_attn.dense", "mlp.W_in": "mlp.fc1", "mlp.W_out": "mlp.fc2"},
            outside=OUTSIDE | {"norm": "final_layernorm", "head.b_U": "lm_head.bias"},
        ),
        phi,
        refused=NO_QK_NORM,
    ),
    "granite": family(
        replace(LLAMA, factor=with_multipliers),
        gated,
        all_turn,
        granite,
    ),
    "starcoder2": family(_without_gate({"mlp.W_in": "mlp.c_fc", "mlp.W_out": "mlp.c_proj"}), plain, turning),
    "stablelm": family(
        LLAMA,
        gated,
        turning,
        lambda theirs: {"residual": "parallel" if theirs.use_parallel_residual else "sequential"},
        refused=NO_QK_NORM,
        layout_of=_stablelm_layout,
    ),
    "cohere": family(COHERE, gated, turning, fixed(residual="parallel"), refused=NO_QK_NORM),
    "cohere2": family(COHERE, gated, _still_where_global, fixed(residual="parallel"), refused=NO_QK_NORM),
    "nemotron": family(_without_gate(PLAIN, gain_from_1=True), plain, turning),
    "arcee": family(_without_gate(PLAIN), plain, turning),
    "jais2": family(_without_gate(PLAIN), plain, turning),
    "glm": family(with_parts(LLAMA, JOINED_GATED, in_halves=False), gated, turning),
    "glm4": family(
        with_parts(
            LLAMA,
            JOINED_GATED,
            {"self_attn.out_norm": "post_self_attn_layernorm", "mlp.out_norm": "post_mlp_layernorm"},
            in_halves=False,
        ),
        gated,
        turning,
        fixed(norm_position="both"),
    ),
    **{name: family(replace(LLAMA, in_halves=False), gated, turning) for name in ("helium", "ernie4_5")},
}
"""By `model_type`."""
