"""The message for a model that is not converted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tfmviz.huggingface.family import Family

Config = Mapping[str, Any]
"""The settings of a model, by their names in config.json."""


def _has(*names: str) -> Callable[[Config], bool]:
    """Tests whether a configuration sets one of these."""
    return lambda config: any(config.get(name) for name in names)


def _is(types: str) -> Callable[[Config], bool]:
    return lambda config: bool(re.fullmatch(types, str(config["model_type"])))


NO_ATTENTION = "its layers hold no attention"
NOT_TEXT = "it reads pictures or sound"

REASONS: dict[str, Callable[[Config], bool]] = {
    NO_ATTENTION: _is(r"(falcon_)?mamba2?|rwkv\d*|xlstm|fnet"),
    NOT_TEXT: _has("vision_config", "audio_config", "encoder_config", "image_size", "num_mel_bins", "conv_kernel"),
    "some of its layers are recurrent": _has(
        *("mamba_d_state", "mamba_d_conv", "ssm_state_size", "lru_width", "linear_num_key_heads", "conv_L_cache")
    ),
    "its keys and values come from a smaller vector that all heads share": _has("kv_lora_rank"),
    "there is no recipe for its mixtures of experts": _has(
        *("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "ffn_config")
    ),
    "its scores have terms for words and for positions apart": _is("deberta.*|xlnet|transfo-xl"),
    "its attention is sparse": _is("longformer|led|big_?bird.*|longt5|reformer|nystromformer"),
}
"""Reasons why a type has no recipe; the first that holds counts."""

OF_TYPES = {
    "mpnet": "it has a table of distances (relative_attention_bias) and learned positions",
    "apertus": "the function of its layers has trained numbers (act_fn.alpha_p, act_fn.alpha_n)",
    "diffllama": "its patterns are differences of two (lambda_q1, lambda_k1)",
    "bitnet": "there is a norm inside its feed-forward layers (ffn_sub_norm)",
    "hunyuan_v1_dense": "its queries are normed after they are turned (query_layernorm)",
    "nanochat": "its queries are normed after they are turned",
    "persimmon": "its queries have LayerNorms with biases (q_layernorm)",
    "prophetnet": "it reads a text in several orders, with a second stream of queries",
}
"""Reasons by type."""

UNKNOWN = "there is no recipe for its layers"

BY_SETTINGS = {
    "rms_norm_eps": "llama",
    "alibi": "bloom",
    "type_vocab_size": "bert",
    "relative_attention_num_buckets": "bert",
    **dict.fromkeys(("rope_parameters", "rope_theta", "rotary_dim", "partial_rotary_factor"), "gpt_neox"),
}
"""The family nearest to a model, by the first setting present."""


def not_converted(config: Config, families: Mapping[str, Family]) -> str:
    """The message for a model whose type has no family."""
    kind = config.get("model_type")
    if not isinstance(kind, str):
        return f"config.json names no type of model: model_type is {kind!r}."
    by_settings = next((reason for reason, holds in REASONS.items() if holds(config)), UNKNOWN)
    reason = OF_TYPES.get(kind, by_settings)
    code = " Code in its folder is not run." if config.get("auto_map") else ""
    sentence = f"{kind} is not converted: {reason}"
    if reason == NO_ATTENTION:
        return f"{sentence}, so there is nothing to show.{code}"
    near = nearest(config, families)
    return with_way_out(f"{sentence}.{code}{f' Nearest: {near}.' if near else ''}", config)


def with_way_out(sentences: str, config: Config) -> str:
    """Adds what shows the attention of a refused model."""
    if config.get("is_encoder_decoder"):
        call = "tfmviz.show(model(**inputs, output_attentions=True), tokens, source=source_tokens)"
    else:
        call = "tfmviz.show(model(**inputs, output_attentions=True).attentions, tokens)"
    return f"{sentences} Or show its attention: {call}"


def nearest(config: Config, families: Mapping[str, Family]) -> str | None:
    """The family most like another type, by its name, else by its settings; None if none is."""
    kind, has_two = str(config["model_type"]), bool(config.get("is_encoder_decoder"))
    known = [name for name, family in families.items() if (family.reference == "AutoModelForSeq2SeqLM") == has_two]
    if relatives := [name for name in known if _stem(name) == _stem(kind) != "gpt"]:  # GPTs differ more than by number
        return max((name for name in relatives if name <= kind), default=min(relatives))
    if within := [name for name in known if name in kind]:
        return max(within, key=len)
    if REASONS[NOT_TEXT](config):
        return None
    if has_two:
        return "t5" if "relative_attention_num_buckets" in config else "bart"
    return next((name for setting, name in BY_SETTINGS.items() if config.get(setting)), "gpt2")


def _stem(name: str) -> str:
    """ "gemma3_text" and "gemma2" are both of "gemma"."""
    return re.split(r"[^a-z]", name)[0]
