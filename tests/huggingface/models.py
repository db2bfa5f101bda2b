"""Tiny models of every family with random weights: sizes pairwise different and prime, unusual constants.

All parameters are drawn anew and large, so that no formula hides behind weights of size 0.02.
"""

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

VOCAB, LENGTH, D_FF, WINDOW = 307, 61, 37, 13

MARKS: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": 2}
COMMON: dict[str, Any] = {"vocab_size": VOCAB, "max_position_embeddings": LENGTH}
PLAIN: dict[str, Any] = {
    **COMMON | MARKS | {"pad_token_id": 0},
    **{"hidden_size": 42, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": D_FF},
}
GPT2: dict[str, Any] = {
    **MARKS | {"vocab_size": VOCAB, "n_positions": LENGTH},
    **{"n_embd": 42, "n_layer": 3, "n_head": 3, "n_inner": D_FF},
}
LLAMA: dict[str, Any] = PLAIN | {
    **{"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 14, "rms_norm_eps": 0.03},
    "rope_parameters": {"rope_type": "default", "rope_theta": 777.0},
}
BART: dict[str, Any] = {
    **COMMON | MARKS | {"pad_token_id": 0, "decoder_start_token_id": 2},
    **{"d_model": 42, "encoder_layers": 3, "decoder_layers": 2},
    **{"encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": D_FF, "decoder_ffn_dim": D_FF},
}
T5: dict[str, Any] = {
    **{"vocab_size": VOCAB, "decoder_start_token_id": 0, "layer_norm_epsilon": 0.03},
    **{"d_model": 42, "d_kv": 14, "d_ff": D_FF, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 3},
}
DISTILBERT: dict[str, Any] = COMMON | {"dim": 42, "n_layers": 3, "n_heads": 3, "hidden_dim": D_FF}
LLAMA3: dict[str, Any] = {
    **{"rope_type": "llama3", "rope_theta": 777.0, "factor": 4.0, "original_max_position_embeddings": 31},
    **{"low_freq_factor": 1.0, "high_freq_factor": 4.0},
}


def rope(**parameters: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 777.0} | parameters}


def made(name: str, *given: dict[str, Any], kind: str = "ForCausalLM", **more: Any) -> Callable[[], Any]:
    """A model of the library's class with the entries given; where two are of one name, the later counts."""
    entries: dict[str, Any] = {}
    for one in (*given, more):
        entries |= one
    return lambda: getattr(hf, f"{name}{kind}")(getattr(hf, f"{name}Config")(**entries))


def _without(entries: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if key != name}


def qwen2() -> dict[str, Any]:
    return _without(LLAMA | {"hidden_size": 84}, "head_dim")


def sliding(*, from_layer: int) -> dict[str, Any]:
    return {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": from_layer}


WRITER, MASKED, TRANSLATOR = "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration"
IN_TURN: dict[str, Any] = {"use_parallel_residual": False, "attention_bias": False, "tie_word_embeddings": True}
OPT = _without(PLAIN, "intermediate_size") | {"ffn_dim": D_FF}
BLOOM = {"vocab_size": VOCAB, "hidden_size": 42, "n_layer": 3, "n_head": 3}
CAPS = {"query_pre_attn_scalar": 11, "attn_logit_softcapping": 1.7, "final_logit_softcapping": 2.3}

MODELS: dict[str, Callable[[], Any]] = {
    "gpt2": made("GPT2", GPT2, kind=WRITER, layer_norm_epsilon=0.03),
    "gpt2 by layer": made("GPT2", GPT2, kind=WRITER, scale_attn_by_inverse_layer_idx=True),
    "gpt2 unscaled": made("GPT2", GPT2, kind=WRITER, scale_attn_weights=False, tie_word_embeddings=False),
    "gpt_neox": made("GPTNeoX", PLAIN, rope(partial_rotary_factor=0.43), layer_norm_eps=0.03),
    "gpt_neox sequential": made("GPTNeoX", PLAIN, IN_TURN, rope(partial_rotary_factor=1.0)),
    "opt": made("OPT", OPT),
    "opt narrow": made("OPT", OPT, word_embed_proj_dim=29, do_layer_norm_before=False),
    "bloom": made("Bloom", BLOOM, layer_norm_epsilon=0.03),
    "llama": made("Llama", LLAMA, tie_word_embeddings=True),
    "llama with biases": made("Llama", LLAMA, rope(rope_type="linear", factor=3.0), attention_bias=True, mlp_bias=True),
    "llama 3": made("Llama", LLAMA, rope_parameters=LLAMA3),
    "mistral": made("Mistral", LLAMA, sliding_window=WINDOW),
    "qwen2": made("Qwen2", qwen2()),
    "qwen2 window": made("Qwen2", qwen2(), sliding(from_layer=0)),
    "qwen3": made("Qwen3", LLAMA),
    "gemma": made("Gemma", LLAMA),
    "gemma2": made("Gemma2", LLAMA, CAPS, sliding_window=59),
    "bert": made("Bert", PLAIN, kind=MASKED, layer_norm_eps=0.03),
    "bert tanh": made("Bert", PLAIN, kind=MASKED, hidden_act="gelu_new", tie_word_embeddings=False),
    "bert headless": made("Bert", PLAIN, kind="Model"),
    "roberta": made("Roberta", PLAIN, kind=MASKED, pad_token_id=5, layer_norm_eps=0.03),
    "distilbert": made("DistilBert", DISTILBERT, kind=MASKED),
    "distilbert headless": made("DistilBert", DISTILBERT, kind="Model"),
    "bart": made("Bart", BART, kind=TRANSLATOR),
    "bart scaled": made("Bart", BART, kind=TRANSLATOR, scale_embedding=True, activation_function="gelu_new"),
    "marian": lambda: hf.MarianMTModel(hf.MarianConfig(**BART, scale_embedding=True, activation_function="swish")),
    "t5": made("T5", T5, kind=TRANSLATOR),
    "t5 1.1": made("T5", T5, kind=TRANSLATOR, d_kv=11, tie_word_embeddings=False, feed_forward_proj="gated-gelu"),
    "t5 relu": made("T5", T5, kind=TRANSLATOR, feed_forward_proj="gated-relu"),
}


LARGER = {"gpt2": 3.0, "bart": 2.2, "marian": 2.6, "bert": 2.0, "electra": 2.5, "opt": 2.0, "gemma": 0.9}
"""Sizes of weights that make uneven patterns, but not so uneven that the softmax is saturated."""


def tiny(name: str, *, seed: int = 0) -> Any:
    """A model of `MODELS` with large random weights."""
    return weighted(MODELS[name](), seed=seed)


def weighted(model: Any, *, seed: int = 0) -> Any:
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    larger = LARGER.get(model.config.model_type, 1.4)
    with torch.no_grad():
        for parameter_name, weight in model.named_parameters():
            if model.config.model_type in ("marian", "pegasus") and "embed_positions" in parameter_name:
                continue  # sines and cosines
            noise = torch.randn(weight.shape, generator=generator)
            if weight.dim() == 1:
                weight.copy_(0.3 * noise + float(_is_gain(parameter_name)))
            else:
                scale = 0.8 if model.config.model_type in ("t5", "umt5") and _queries(parameter_name) else larger
                weight.copy_(scale * noise / weight.shape[-1] ** 0.5)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape, generator=generator))
    return model


def _is_gain(name: str) -> bool:
    return name.endswith("weight") and ("norm" in name.lower() or "ln_" in name)


def _queries(name: str) -> bool:
    """T5 divides no scores by √d, so large queries and keys saturate the softmax, in float32 and everywhere."""
    return name.endswith((".q.weight", ".k.weight"))


def ids(*, batch: int = 1, length: int = 23, seed: int = 1) -> torch.Tensor:
    """(batch, length), no padding among them."""
    return torch.randint(6, VOCAB, (batch, length), generator=torch.Generator().manual_seed(seed))


def texts_of(model: Any) -> list[tuple[torch.Tensor, ...]]:
    """Several texts; source and target for an encoder-decoder."""
    if model.config.is_encoder_decoder:
        return [(ids(length=n), ids(length=m, seed=2)) for n, m in ((19, 23), (41, 7))]
    return [(ids(length=n),) for n in (1, 23, 47)]


LOCAL, GLOBAL = "sliding_attention", "full_attention"
KINDS: dict[str, Any] = {"layer_types": [LOCAL, GLOBAL, LOCAL], "sliding_window": WINDOW}
TWO_BASES: dict[str, Any] = {
    "rope_parameters": {
        LOCAL: {"rope_type": "default", "rope_theta": 777.0},
        GLOBAL: {"rope_type": "linear", "factor": 3.0, "rope_theta": 5555.0},
    }
}
YARN: dict[str, Any] = {
    "rope_type": "yarn",
    "rope_theta": 777.0,
    "factor": 4.0,
    "original_max_position_embeddings": 31,
    "beta_fast": 3.0,
    "beta_slow": 0.5,
}
YARN_LATER: dict[str, Any] = (
    YARN | {"original_max_position_embeddings": 53, "attention_factor": 0.8} | {"llama_4_scaling_beta": 0.1}
)
LONG: dict[str, Any] = {
    "rope_type": "longrope",
    "rope_theta": 777.0,
    "original_max_position_embeddings": 53,
    "short_factor": [1.0, 1.1, 1.3, 1.7, 2.0],
    "long_factor": [9.0] * 5,
}
LAYERED = {"hidden_size": 84, "num_attention_heads": 6, "num_key_value_heads": 2}
EPS: dict[str, Any] = {"layer_norm_eps": 0.03}
PARTIAL = rope(partial_rotary_factor=0.72)
NO_RMS = {key: value for key, value in LLAMA.items() if key != "rms_norm_eps"}
GRANITE: dict[str, Any] = {
    **{"embedding_multiplier": 3.0, "logits_scaling": 2.0},
    **{"residual_multiplier": 0.4, "attention_multiplier": 0.3},
}


def _language(name: str, *given: dict[str, Any], of: dict[str, Any] = LLAMA, **more: Any) -> Callable[[], Any]:
    return made(name, of, *given, **more)


def _gemma3(**more: Any) -> Any:
    return hf.Gemma3TextConfig(**LLAMA | KINDS | TWO_BASES | {"query_pre_attn_scalar": 53} | more)


def _m2m(name: str, **more: Any) -> Callable[[], Any]:
    return made(name, BART, {"encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}, kind=TRANSLATOR, **more)


NEO: dict[str, Any] = {
    **{"attention_types": [[["global", "local"], 1], [["local"], 1]], "num_layers": 3, "hidden_size": 42},
    **{"num_heads": 3, "intermediate_size": D_FF, "window_size": WINDOW, "layer_norm_epsilon": 0.03},
}
WIDE: dict[str, Any] = {"hidden_size": 84, "num_attention_heads": 6}
MPT: dict[str, Any] = MARKS | {"vocab_size": VOCAB, "d_model": 42, "n_layers": 3, "n_heads": 3, "max_seq_len": LENGTH}
XGLM: dict[str, Any] = COMMON | MARKS | {"pad_token_id": 0, "d_model": 42, "num_layers": 3, "attention_heads": 3}
BIASED = dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), True)
EURO: dict[str, Any] = {"mask_token_id": 3}
ROTARY: dict[str, Any] = {"rotary_dim": 8, "layer_norm_epsilon": 0.03}
DEFAULT_BASES = {kind: {"rope_type": "default", "rope_theta": base} for kind, base in ((LOCAL, 777.0), (GLOBAL, 5e3))}
MODERN: dict[str, Any] = PLAIN | {
    **{"num_attention_heads": 3, "norm_eps": 0.03, "local_attention": 10, "layer_types": [GLOBAL, LOCAL, GLOBAL]},
    **{"cls_token_id": 1, "sep_token_id": 2, "rope_parameters": DEFAULT_BASES},
}
FALCON: dict[str, Any] = {
    **{key: PLAIN[key] for key in ("vocab_size", "num_hidden_layers", "bos_token_id", "eos_token_id")},
    **{"hidden_size": 42, "num_attention_heads": 3, "ffn_hidden_size": D_FF, "layer_norm_epsilon": 0.03, "bias": True},
    **{"attn_implementation": "eager"},
    **rope(),
}
OLD = {key: value for key, value in LLAMA.items() if key != "rope_parameters"}
OLD_BASES: dict[str, Any] = {
    **{"rope_theta": 5555.0, "rope_local_base_freq": 777.0, "rope_scaling": {"rope_type": "linear", "factor": 3.0}},
    **{"sliding_window": WINDOW, "sliding_window_pattern": 2, "query_pre_attn_scalar": 53},
}
OLD_LONG: dict[str, Any] = {
    **{"rope_theta": 777.0, "original_max_position_embeddings": 53},
    "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1, 1.3, 1.7, 2.0, 2.1, 2.2], "long_factor": [9.0] * 7},
}
OLD_YARN: dict[str, Any] = {
    **{"rope_theta": 777.0, "max_window_layers": 1, "use_sliding_window": True, "sliding_window": WINDOW},
    "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 31},
}
OLD_MODERN = {key: value for key, value in MODERN.items() if key not in ("rope_parameters", "layer_types")} | {
    **{"global_attn_every_n_layers": 2, "global_rope_theta": 5555.0, "local_rope_theta": 777.0}
}

EXPERTS: dict[str, Any] = {**{"num_local_experts": 5, "num_experts_per_tok": 3, "experts_implementation": "eager"}}
"""The library's usual kernel takes no vectors whose bytes are no multiple of 16."""

SMALL_EXPERTS = EXPERTS | {"num_experts": 7, "num_experts_per_tok": 2, "moe_intermediate_size": 19}
QWEN2_MOE = LAYERED | SMALL_EXPERTS | {"shared_expert_intermediate_size": 23}
OLD_MIXTRAL: dict[str, Any] = {"rope_theta": 777.0, "sliding_window": WINDOW, "router_jitter_noise": 0.1}
OLD_QWEN3_MOE: dict[str, Any] = {"rope_theta": 777.0, "norm_topk_prob": True}
OLD_GPT_OSS: dict[str, Any] = {
    **{"rope_theta": 777.0, "sliding_window": WINDOW, "swiglu_limit": 0.7, "attention_bias": False},
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 31, "truncate": False},
}
GPT_OSS = EXPERTS | {"rope_parameters": YARN, "sliding_window": WINDOW, "swiglu_limit": 0.7, "swiglu_alpha": 1.3}
NARROW: dict[str, Any] = {"embedding_size": 29}
NO_WIDTH = {key: value for key, value in LLAMA.items() if key != "head_dim"}

NEWER: dict[str, Callable[[], Any]] = {
    "ministral": _language("Ministral", KINDS),
    "qwen3 windows": _language("Qwen3", KINDS, use_sliding_window=True),
    "gemma2 windows": _language("Gemma2", KINDS, query_pre_attn_scalar=211),
    "gemma3": lambda: hf.Gemma3ForCausalLM(_gemma3()),
    "gemma3 of old": lambda: hf.Gemma3ForCausalLM(hf.Gemma3TextConfig(**OLD, **OLD_BASES)),
    "embedding gemma": lambda: hf.Gemma3TextModel(_gemma3(use_bidirectional_attention=True, sliding_window=10)),
    "smollm3": _language("SmolLM3", no_rope_layers=[1, 0, 1]),
    "modernbert": made("ModernBert", MODERN, kind=MASKED),
    "modernbert biases": made("ModernBert", MODERN, BIASED, kind=MASKED),
    "modernbert of old": made("ModernBert", OLD_MODERN, kind=MASKED),
    "olmo2": _language("Olmo2"),
    "olmo3": _language("Olmo3", KINDS, TWO_BASES | {"rope_parameters": TWO_BASES["rope_parameters"] | {GLOBAL: YARN}}),
    "exaone4": _language("Exaone4", KINDS, sliding_window_pattern=2),
    "cohere2": _language("Cohere2", KINDS, EPS, of=NO_RMS, logit_scale=0.4),
    "llama yarn": _language("Llama", {"rope_parameters": YARN | {"mscale": 0.3, "mscale_all_dim": 1.4}}),
    "qwen3 yarn": _language("Qwen3", {"rope_parameters": YARN | {"attention_factor": 1.3}}),
    "phi3": _language("Phi3", LAYERED, sliding_window=WINDOW),
    "phi3 longrope": _language("Phi3", LAYERED, {"rope_parameters": LONG | {"partial_rotary_factor": 0.75}}),
    "phi3 of old": _language("Phi3", LAYERED, OLD_LONG, of=OLD),
    "qwen3 of old": _language("Qwen3", OLD_YARN, of=OLD),
    "phi": _language("Phi", LAYERED, EPS, PARTIAL, of=NO_RMS),
    "granite": _language("Granite", GRANITE, tie_word_embeddings=True),
    "granite untied": _language("Granite", GRANITE, tie_word_embeddings=False),
    "starcoder2": _language("Starcoder2", LAYERED, of=NO_RMS, norm_epsilon=0.03, sliding_window=WINDOW),
    "gpt_neo": made("GPTNeo", COMMON | MARKS, NEO),
    "codegen": _language("CodeGen", ROTARY, of=GPT2 | {"n_embd": 56, "n_head": 4, "n_ctx": LENGTH}),
    "gptj": _language("GPTJ", ROTARY, of=GPT2),
    "gpt_bigcode": _language("GPTBigCode", of=GPT2, layer_norm_epsilon=0.03),
    "gpt_bigcode heads": _language("GPTBigCode", of=GPT2, multi_query=False),
    "stablelm": _language("StableLm", LAYERED, EPS, PARTIAL, of=NO_RMS, use_qkv_bias=True),
    "stablelm parallel": _language("StableLm", LAYERED, EPS, PARTIAL, of=NO_RMS, use_parallel_residual=True),
    "olmo": _language("Olmo", LAYERED, of=NO_RMS),
    "cohere": _language("Cohere", LAYERED, EPS, of=NO_RMS, logit_scale=0.4),
    "nemotron": _language("Nemotron", PARTIAL, of=NO_RMS, norm_eps=0.03),
    "arcee": _language("Arcee"),
    "jais2": _language("Jais2", EPS, of=NO_RMS),
    "glm": _language("Glm", PARTIAL),
    "glm4": _language("Glm4", PARTIAL),
    "helium": _language("Helium", LAYERED),
    "ernie4_5": _language("Ernie4_5"),
    "seed_oss": _language("SeedOss", attention_bias=True),
    "cwm": _language("Cwm", KINDS),
    "mpt": made("Mpt", MPT),
    "falcon": _language("Falcon", of=FALCON),
    "falcon heads": _language("Falcon", of=FALCON, multi_query=False, parallel_attn=False),
    "falcon groups": made("Falcon", FALCON, WIDE, num_kv_heads=2, new_decoder_architecture=True),
    "xglm": made("XGLM", XGLM, ffn_dim=D_FF, layerdrop=0.0),
    "mbart": _m2m("MBart", scale_embedding=True),
    "pegasus": _m2m("Pegasus", scale_embedding=True),
    "m2m_100": _m2m("M2M100", pad_token_id=1),
    "blenderbot": _m2m("Blenderbot"),
    "mt5": made("MT5", T5, kind=TRANSLATOR, d_kv=11, tie_word_embeddings=False),
    "electra": made("Electra", PLAIN, EPS, kind=MASKED, embedding_size=42),
    "electra headless": made("Electra", PLAIN, kind="ForPreTraining", embedding_size=42),
    "xlm-roberta": made("XLMRoberta", PLAIN, EPS, kind=MASKED, pad_token_id=5),
    "camembert": made("Camembert", PLAIN, EPS, kind=MASKED, pad_token_id=5),
    "modernbert decoder": made("ModernBertDecoder", MODERN),
    "vaultgemma": _language("VaultGemma", KINDS, query_pre_attn_scalar=53),
    "ministral3": _language("Ministral3", {"rope_parameters": YARN_LATER}),
    "biogpt": _language("BioGpt", EPS, of=PLAIN),
    "mixtral": _language("Mixtral", EXPERTS),
    "mixtral of old": _language("Mixtral", EXPERTS, OLD_MIXTRAL, of=OLD),
    "qwen2_moe": _language("Qwen2Moe", QWEN2_MOE, of=NO_WIDTH),
    "qwen2_moe windows": _language("Qwen2Moe", QWEN2_MOE, KINDS, of=NO_WIDTH, use_sliding_window=True),
    "qwen3_moe": _language("Qwen3Moe", SMALL_EXPERTS, attention_bias=True),
    "qwen3_moe of old": _language("Qwen3Moe", SMALL_EXPERTS, OLD_QWEN3_MOE, of=OLD),
    "olmoe": _language("Olmoe", LAYERED, EXPERTS, of=NO_WIDTH, norm_topk_prob=True),
    "granitemoe": _language("GraniteMoe", LAYERED, EXPERTS, GRANITE, of=NO_WIDTH, tie_word_embeddings=True),
    "granitemoe untied": _language("GraniteMoe", LAYERED, EXPERTS, GRANITE, of=NO_WIDTH, num_experts_per_tok=1),
    "gpt_oss": _language("GptOss", GPT_OSS),
    "gpt_oss of old": _language("GptOss", EXPERTS, OLD_GPT_OSS, of=OLD),
    "umt5": made("UMT5", T5, kind=TRANSLATOR, d_kv=11),
    "umt5 relu": made("UMT5", T5, kind=TRANSLATOR, feed_forward_proj="relu"),
    "albert": made("Albert", PLAIN, EPS, NARROW, kind=MASKED),
    "albert headless": made("Albert", PLAIN, NARROW, kind="Model", num_hidden_groups=3),
    "albert wide": made("Albert", PLAIN, kind=MASKED, embedding_size=42, hidden_act="gelu"),
    "electra narrow": made("Electra", PLAIN, NARROW, kind=MASKED),
    "eurobert": made("EuroBert", LLAMA, EURO, kind=MASKED),
}
