"""Encoder-decoders: BART, T5 and their relatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from tfmviz.huggingface.family import MAX_LEN, Family, Weights, embeddings, function, linear, norm
from tfmviz.huggingface.layout import Layout
from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig

ATTENTION = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}


def _bart_shape(theirs: Any, source: Source, *, positions: str, **more: Any) -> dict[str, Any]:
    for part in ("attention_heads", "ffn_dim"):
        encoder, decoder = getattr(theirs, f"encoder_{part}"), getattr(theirs, f"decoder_{part}")
        if encoder != decoder:
            raise Refused(f"Encoder and decoder differ in {part}: {encoder} and {decoder}. That is not known here.")
    if positions != "learned" and theirs.d_model % 2:
        raise Refused(f"Its sines and cosines do not come in pairs, since d_model = {theirs.d_model} is odd.")
    return {
        "architecture": "encoder-decoder",
        "d_model": theirs.d_model,
        "n_layers": theirs.encoder_layers,
        "n_decoder_layers": theirs.decoder_layers,
        "n_heads": theirs.encoder_attention_heads,
        "n_kv_heads": theirs.encoder_attention_heads,
        "d_ff": theirs.encoder_ffn_dim,
        "feed_forward": function(theirs.activation_function),
        "positions": positions,
        "embedding_scale": "sqrt_d_model" if theirs.scale_embedding else "one",
        "head": "bias",
        **embeddings(source, theirs, W_E=_shared(source), W_U="lm_head.weight"),
    } | more


def _marian_shape(theirs: Any, source: Source) -> dict[str, Any]:
    if not theirs.share_encoder_decoder_embeddings:
        raise Refused("Its two languages have vocabularies of their own. Only models with a shared one are known here.")
    return _bart_shape(theirs, source, positions="sines-first", norm_position="post")


def _shared(source: Source) -> str:
    """The table of tokens, under one of three names."""
    names = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    return next((name for name in names if name in source), names[0])


BART = Layout(
    path="{stack}.layers.{n}",
    outside={
        "embedding.W_U": "lm_head.weight",
        "head.b_U": "final_logits_bias",
        "positions.table": "{stack}.embed_positions.weight",
        "embed_norm": "{stack}.layernorm_embedding",
        "norm": "{stack}.layer_norm",
    },
    layer={
        **{f"self_attn.{ours}": f"self_attn.{theirs}" for ours, theirs in ATTENTION.items()},
        **{f"cross_attn.{ours}": f"encoder_attn.{theirs}" for ours, theirs in ATTENTION.items()},
        **{"mlp.W_in": "fc1", "mlp.W_out": "fc2"},
        **{"self_attn_residual.norm": "self_attn_layer_norm", "cross_attn_residual.norm": "encoder_attn_layer_norm"},
        **{"mlp_residual.norm": "final_layer_norm"},
    },
    first_position=2,
)


def _bart_weights(source: Source, theirs: Any, ours: ModelConfig, *, first_position: int = 2) -> Weights:
    outside = dict(BART.outside) | {"embedding.W_E": _shared(source)}
    if "final_logits_bias" not in source:
        outside["head.b_U"] = ""
    return replace(BART, outside=outside, first_position=first_position).weights(source, theirs, ours)


def _t5_shape(theirs: Any, source: Source) -> dict[str, Any]:
    buckets = (theirs.relative_attention_num_buckets, theirs.relative_attention_max_distance)
    if buckets != (32, 128):
        raise Refused(f"Its positions have {buckets[0]} buckets up to distance {buckets[1]}; known: 32 and 128.")
    if "decoder.final_layer_norm.weight" not in source:
        raise Refused("The checkpoint holds only the encoder of a T5. Only whole ones are known here.")
    head_width = theirs.d_kv if theirs.d_kv * theirs.num_heads != theirs.d_model else None
    return {
        "architecture": "encoder-decoder",
        "d_model": theirs.d_model,
        "n_layers": theirs.num_layers,
        "n_decoder_layers": theirs.num_decoder_layers,
        "n_heads": theirs.num_heads,
        "n_kv_heads": theirs.num_heads,
        "head_width": head_width,
        "d_ff": theirs.d_ff,
        "norm": "rms",
        "norm_eps": theirs.layer_norm_epsilon,
        "feed_forward": function(theirs.dense_act_fn, gated=theirs.is_gated_act),
        "positions": "t5",
        "position_numbers": "own" if theirs.model_type == "umt5" else "shared",
        "score_divisor": 1.0,
        **embeddings(source, theirs, W_E=_shared(source), W_U="lm_head.weight"),
    }


def scales_outputs(theirs: Any) -> bool:
    """True if the last stream is divided by √d_model, as in T5 1.0."""
    if theirs.model_type == "mt5":
        return False
    scale = getattr(theirs, "scale_decoder_outputs", None)
    return theirs.tie_word_embeddings is not False if scale is None else bool(scale)


def _t5_weights(source: Source, theirs: Any, ours: ModelConfig) -> Weights:
    yield "embedding.W_E", source[_shared(source)]
    if not ours.embeddings.tied:
        yield "embedding.W_U", source["lm_head.weight"]
    for stack in ours.stacks:
        bias = f"{stack}.block.{{}}.layer.0.SelfAttention.relative_attention_bias.weight"
        if not ours.positions.in_each_layer:
            yield f"{stack}.positions.table", source[bias.format(0)]  # that of the first block serves all
        for n in range(ours.depth(stack)):
            if ours.positions.in_each_layer:
                yield f"{stack}.blocks.{n}.positions.table", source[bias.format(n)]
            yield from _t5_layer(source, f"{stack}.block.{n}.layer", f"{stack}.blocks.{n}", cross=stack == "decoder")
        gain = source[f"{stack}.final_layer_norm.weight"]
        folded = stack == "decoder" and scales_outputs(theirs)
        yield f"{stack}.norm.weight", gain.float() * ours.d_model**-0.5 if folded else gain


def _t5_layer(source: Source, old: str, new: str, *, cross: bool) -> Weights:
    layers = [("SelfAttention", "self_attn"), *([("EncDecAttention", "cross_attn")] if cross else [])]
    for n, (theirs_name, layer) in enumerate(layers):
        for part in "qkvo":
            yield from linear(source, f"{old}.{n}.{theirs_name}.{part}", f"{new}.{layer}.W_{part.upper()}")
        yield from norm(source, f"{old}.{n}.layer_norm", f"{new}.{layer}_residual.norm")
    mlp = f"{old}.{len(layers)}.DenseReluDense"
    if f"{mlp}.wi_0.weight" in source:
        yield from linear(source, f"{mlp}.wi_0", f"{new}.mlp.W_gate")
        yield from linear(source, f"{mlp}.wi_1", f"{new}.mlp.W_in")
    else:
        yield from linear(source, f"{mlp}.wi", f"{new}.mlp.W_in")
    yield from linear(source, f"{mlp}.wo", f"{new}.mlp.W_out")
    yield from norm(source, f"{old}.{len(layers)}.layer_norm", f"{new}.mlp_residual.norm")


SAME_TABLES = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
"""Names of one table, always tied."""

LEFT_OUT = (*SAME_TABLES, "classification_head.*", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.*")


def _family(shape: Callable[[Any, Source], dict[str, Any]], weights: Any, context: Any, **more: Any) -> Family:
    return Family(shape=shape, weights=weights, context=context, reference="AutoModelForSeq2SeqLM", **more)


WITHOUT_WAVES = (*LEFT_OUT, "*.embed_positions.weight*")
"""Sines and cosines follow from a formula."""


def _longest(theirs: Any) -> int:
    return theirs.max_position_embeddings


def _bart(positions: str, *, first_position: int = 2, **more: Any) -> Family:
    """A family built like BART, by default pre-norm."""
    return _family(
        partial(_bart_shape, positions=positions, **more),
        partial(_bart_weights, first_position=first_position),
        _longest,
        prefix="model.",
        left_out=LEFT_OUT if positions == "learned" else WITHOUT_WAVES,
    )


FAMILIES = {
    "bart": _bart("learned", norm_position="post", embedding_norm="present"),
    "mbart": _bart("learned", embedding_norm="present"),
    "blenderbot": _bart("learned", first_position=0),
    "pegasus": _bart("sines-first"),
    "m2m_100": _bart("sines-first-from-2"),
    "marian": _family(_marian_shape, _bart_weights, _longest, prefix="model.", left_out=WITHOUT_WAVES),
    **{
        name: _family(
            _t5_shape,
            _t5_weights,
            lambda theirs: MAX_LEN,
            left_out=LEFT_OUT,
            last=lambda theirs: theirs.d_model**-0.5 if scales_outputs(theirs) else 1.0,
        )
        for name in ("t5", "mt5", "umt5")
    },
}
"""By `model_type`."""
