"""Language models built like GPT."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from tfmviz.huggingface.family import Family, Weights, embeddings, function
from tfmviz.huggingface.layout import Layout, all_of, by_group, with_parts
from tfmviz.huggingface.llamas import ATTENTION, LEFT_OUT, NORMS, ONE_NORM, OUTSIDE, family, phi, plain, turning
from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig


def _by_layer(theirs: Any, name: str) -> float:
    """Some divide the scores of layer n by n + 1, folded into queries."""
    divides = theirs.scale_attn_by_inverse_layer_idx and ".W_Q." in name
    return 1 / (int(name.split(".")[2]) + 1) if divides else 1.0


GPT = {
    "embedding.W_E": "wte.weight",
    "embedding.W_U": "lm_head.weight",
    "head.b_U": "lm_head.bias",
    "positions.table": "wpe.weight",
    "norm": "ln_f",
}
GPT_NORMS = {"self_attn_residual.norm": "ln_1", "mlp_residual.norm": "ln_2"}
GPT_MLP = {"mlp.W_in": "mlp.c_fc", "mlp.W_out": "mlp.c_proj"}
GPTJ = Layout(
    path="h.{n}",
    outside=GPT,
    in_halves=False,
    layer={
        **{f"self_attn.W_{letter.upper()}": f"attn.{letter}_proj" for letter in "qkv"},
        **{"self_attn.W_O": "attn.out_proj", "mlp.W_in": "mlp.fc_in", "mlp.W_out": "mlp.fc_out"},
        **{"self_attn_residual.norm": "ln_1", "mlp_residual.norm": "ln_1"},
    },
)
GPT2 = Layout(
    path="h.{n}",
    outside=GPT,
    layer=all_of("attn.c_attn") | {"self_attn.W_O": "attn.c_proj"} | GPT_MLP | GPT_NORMS,
    transposed=("*",),
    factor=_by_layer,
)
FALCON_LAYER = {
    **all_of("self_attention.query_key_value"),
    **{"self_attn.W_O": "self_attention.dense"},
    **{"mlp.W_in": "mlp.dense_h_to_4h", "mlp.W_out": "mlp.dense_4h_to_h"},
    **NORMS,
}
WORDS = {"embedding.W_E": "word_embeddings.weight", "embedding.W_U": "lm_head.weight", "norm": "ln_f"}
FALCON = Layout(path="h.{n}", cut=by_group, outside=WORDS, layer=FALCON_LAYER)
BLOOM = replace(FALCON, outside=WORDS | {"embed_norm": "word_embeddings_layernorm"})
NEOX = replace(
    with_parts(FALCON, all_of("attention.query_key_value"), {"self_attn.W_O": "attention.dense"}),
    path="layers.{n}",
    outside={"embedding.W_E": "embed_in.weight", "embedding.W_U": "lm_head.weight", "norm": "final_layer_norm"},
)
OPT_LAYER = {
    **ATTENTION,
    **{"self_attn.W_O": "self_attn.out_proj", "mlp.W_in": "fc1", "mlp.W_out": "fc2"},
    **{"self_attn_residual.norm": "self_attn_layer_norm", "mlp_residual.norm": "final_layer_norm"},
}
OPT = Layout(
    path="decoder.layers.{n}",
    outside={
        "embedding.W_E": "decoder.embed_tokens.weight",
        "positions.table": "decoder.embed_positions.weight",
        "norm": "decoder.final_layer_norm",
    },
    layer=OPT_LAYER,
    first_position=2,
)


def _falcon_layout(theirs: Any, source: Source) -> Layout:
    """One norm or two, and in the newest models under other names."""
    if not theirs.new_decoder_architecture:
        return with_parts(FALCON, ONE_NORM) if theirs.parallel_attn else FALCON
    if theirs.num_ln_in_parallel_attn == 1:
        return with_parts(FALCON, ONE_NORM)
    return with_parts(FALCON, {"self_attn_residual.norm": "ln_attn", "mlp_residual.norm": "ln_mlp"})


def of_blocks(rows: Tensor, ours: ModelConfig, part: str) -> Tensor:
    """CodeGen orders rows by four machines, on each by queries, values and keys."""
    return rows.unflatten(0, (4, 3, -1))[:, ("W_Q", "W_V", "W_K").index(part)].flatten(0, 1)


def _gpt2(theirs: Any) -> dict[str, Any]:
    if theirs.add_cross_attention:
        raise Refused("It is a decoder with cross-attention, made for a larger model. It cannot run alone.")
    return plain(theirs) | {"positions": "learned", "score_divisor": None if theirs.scale_attn_weights else 1.0}


def _neox(theirs: Any) -> dict[str, Any]:
    residual = "parallel" if theirs.use_parallel_residual else "sequential"
    return plain(theirs) | turning(theirs) | {"residual": residual}


def _neox_layout(theirs: Any, source: Source) -> Layout:
    """Files on the Hub have the output layer's old name."""
    W_U = "embed_out.weight" if "embed_out.weight" in source else "lm_head.weight"
    return replace(NEOX, outside=dict(NEOX.outside) | {"embedding.W_U": W_U})


def _bloom(theirs: Any) -> dict[str, Any]:
    if theirs.apply_residual_connection_post_layernorm:
        raise Refused("Its stream goes through the norms (apply_residual_connection_post_layernorm); unknown here.")
    return {
        "d_ff": 4 * theirs.hidden_size,
        "feed_forward": "gelu_tanh",
        "positions": "alibi",
        "embedding_norm": "present",
    }


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
    """Its smallest post-norm model has narrow embeddings, W_E · project_in, likewise on the way out."""
    W_U = "lm_head.weight" if "lm_head.weight" in source else "decoder.embed_tokens.weight"
    for name, value in replace(OPT, outside=dict(OPT.outside) | {"embedding.W_U": W_U}).weights(source, theirs, ours):
        if "decoder.project_in.weight" not in source or not name.startswith("embedding."):
            yield name, value
        elif name == "embedding.W_E":
            yield name, value.float() @ source["decoder.project_in.weight"].float().T
        else:
            yield name, value.float() @ source["decoder.project_out.weight"].float()


def _gptj(theirs: Any) -> dict[str, Any]:
    if not theirs.rotary_dim:
        raise Refused("All coordinates of its heads turn as one (rotary_dim is not set), which is not known here.")
    return phi(theirs)


def _gpt_neo(theirs: Any) -> dict[str, Any]:
    """Its scores are not divided, and every second layer sees a window."""
    kinds = theirs.attention_layers
    everywhere = [n for n, kind in enumerate(kinds) if kind == "global"]
    return plain(theirs) | {
        "positions": "learned",
        "score_divisor": 1.0,
        "window": theirs.window_size if "local" in kinds else None,
        "global_layers": (everywhere or None) if "local" in kinds else None,
    }


def _mpt(theirs: Any) -> dict[str, Any]:
    told = theirs.attn_config
    for name, known in (("alibi", True), ("alibi_bias_max", 8), ("clip_qkv", None), ("qk_ln", False)):
        if (value := getattr(told, name, known)) != known:
            raise Refused(f"Its attention has {name} = {value}; what is known here has {known}.")
    return {
        "d_ff": 4 * theirs.d_model,
        "feed_forward": "gelu",
        "positions": "alibi",
        "score_divisor": None if told.softmax_scale is None else 1 / told.softmax_scale,
    }


def _falcon(theirs: Any) -> dict[str, Any]:
    if theirs.alibi:
        raise Refused("Its ALiBi rounds distances to bfloat16 (alibi = True). Only Falcon with RoPE is known here.")
    is_grouped = theirs.new_decoder_architecture
    n_heads = theirs.num_attention_heads
    return {
        "n_kv_heads": theirs.num_kv_heads if is_grouped else 1 if theirs.multi_query else n_heads,
        "d_ff": theirs.ffn_hidden_size,
        "feed_forward": function(theirs.activation),
        "residual": "parallel" if is_grouped or theirs.parallel_attn else "sequential",
        **turning(theirs),
    }


def _big_code(theirs: Any) -> dict[str, Any]:
    return plain(theirs) | {
        "n_kv_heads": 1 if theirs.multi_query else theirs.n_head,
        "positions": "learned",
        "score_divisor": None if theirs.scale_attn_weights else 1.0,
    }


def _xglm(theirs: Any) -> dict[str, Any]:
    return {
        "d_ff": theirs.ffn_dim,
        "feed_forward": function(theirs.activation_function),
        "positions": "sines-first-from-2",
        "embedding_scale": "sqrt_d_model" if theirs.scale_embedding else "one",
    }


TRANSFORMER: dict[str, Any] = {"prefix": "transformer."}

FAMILIES = {
    "gpt2": family(GPT2, _gpt2, **TRANSFORMER),
    "gpt_neox": family(NEOX, _neox, prefix="gpt_neox.", layout_of=_neox_layout),
    "bloom": family(BLOOM, _bloom, context=lambda theirs: getattr(theirs, "seq_length", 2048), **TRANSFORMER),
    "opt": Family(
        shape=_opt_shape,
        weights=_opt_weights,
        context=lambda theirs: theirs.max_position_embeddings,
        reference="AutoModelForCausalLM",
        prefix="model.",
        left_out=LEFT_OUT,
    ),
    "gptj": family(GPTJ, _gptj, **TRANSFORMER),
    "codegen": family(with_parts(GPTJ, all_of("attn.qkv_proj"), cut=of_blocks), _gptj, **TRANSFORMER),
    "gpt_neo": family(
        Layout(
            path="h.{n}",
            outside=GPT,
            layer={
                **{f"self_attn.W_{letter.upper()}": f"attn.attention.{letter}_proj" for letter in "qkv"},
                **{"self_attn.W_O": "attn.attention.out_proj"},
                **GPT_MLP,
                **GPT_NORMS,
            },
        ),
        _gpt_neo,
        **TRANSFORMER,
    ),
    "gpt_bigcode": family(
        Layout(
            path="h.{n}",
            cut=by_group,
            outside=GPT,
            layer=all_of("attn.c_attn") | {"self_attn.W_O": "attn.c_proj"} | GPT_MLP | GPT_NORMS,
        ),
        _big_code,
        **TRANSFORMER,
    ),
    "mpt": family(
        Layout(
            path="blocks.{n}",
            outside={"embedding.W_E": "wte.weight", "embedding.W_U": "lm_head.weight", "norm": "norm_f"},
            layer={
                **all_of("attn.Wqkv"),
                **{"self_attn.W_O": "attn.out_proj", "mlp.W_in": "ffn.up_proj", "mlp.W_out": "ffn.down_proj"},
                **{"self_attn_residual.norm": "norm_1", "mlp_residual.norm": "norm_2"},
            },
        ),
        _mpt,
        context=lambda theirs: theirs.max_seq_len,
        **TRANSFORMER,
    ),
    "falcon": family(FALCON, _falcon, layout_of=_falcon_layout, **TRANSFORMER),
    "biogpt": family(
        Layout(
            outside={
                **OUTSIDE,
                **{"embedding.W_U": "output_projection.weight", "norm": "layer_norm"},
                **{"positions.table": "embed_positions.weight"},
            },
            layer=OPT_LAYER,
            first_position=2,
        ),
        plain,
        lambda theirs: {
            "norm_eps": 1e-5,  # its code leaves out layer_norm_eps
            "positions": "learned",
            "embedding_scale": "sqrt_d_model" if theirs.scale_embedding else "one",
        },
        prefix="biogpt.",
    ),
    "xglm": family(
        Layout(outside=OUTSIDE | {"norm": "layer_norm"}, layer=OPT_LAYER),
        _xglm,
        left_out=(*LEFT_OUT, "embed_positions.weights"),
    ),
}
"""By `model_type`."""
