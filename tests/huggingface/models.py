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
