"""Models that fill in words, with or without heads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tfmviz.huggingface.family import Family, Weights, embeddings, function, linear, norm
from tfmviz.huggingface.layout import Layout, all_of, with_parts
from tfmviz.huggingface.llamas import LLAMA, all_turn, family, fixed, gated
from tfmviz.huggingface.source import Refused, Source
from tfmviz.huggingface.turning import plain_context, turns, windows
from tfmviz.model.config import ModelConfig

LEFT_OUT = (
    "*position_ids",
    "*token_type_ids",
    "pooler.*",
    "sop_classifier.*",
    "predictions.decoder.*",
    "cls.seq_relationship.*",
    "classifier.*",
    "pre_classifier.*",
    "qa_outputs.*",
    "cls.predictions.bias",
    "cls.predictions.decoder.*",
    "predictions.bias",
    "lm_head.bias",
    "lm_head.decoder.*",
    "vocab_projector.weight",
    "generator_lm_head.weight",
    "discriminator_predictions.*",
)
"""Buffers, a pooled vector, heads for other tasks, and a second copy of the embedding."""


def _refuse_decoders(theirs: Any) -> None:
    if getattr(theirs, "is_decoder", False) or getattr(theirs, "add_cross_attention", False):
        raise Refused("It is an encoder's architecture used as a decoder, which is not known here.")


def _head_of(source: Source, theirs: Any, *, names: Names) -> dict[str, Any]:
    """The head that fills in words, if the checkpoint has one; its output layer may be the embedding."""
    if f"{names.dense}.weight" not in source:
        return {"head": "none", "embeddings": "tied"}
    if names.W_U in source and not source.same("embeddings.word_embeddings.weight", names.W_U):
        return {"head": "transform", "embeddings": "untied"}
    if names.W_U not in source and theirs.tie_word_embeddings is False:
        raise Refused(f"The checkpoint lacks {names.W_U}, though its configuration says that it is not the embedding.")
    return {"head": "transform", "embeddings": "tied"}


def _bert_shape(theirs: Any, source: Source, *, names: Names) -> dict[str, Any]:
    _refuse_decoders(theirs)
    if getattr(theirs, "position_embedding_type", "absolute") not in (None, "absolute"):
        raise Refused(f"Its positions are {theirs.position_embedding_type!r}; only the absolute ones are known here.")
    return {
        "architecture": "encoder-only",
        "d_model": theirs.hidden_size,
        "n_layers": theirs.num_hidden_layers,
        "n_heads": theirs.num_attention_heads,
        "n_kv_heads": theirs.num_attention_heads,
        "d_ff": theirs.intermediate_size,
        "norm_position": "post",
        "norm_eps": theirs.layer_norm_eps,
        "feed_forward": function(theirs.hidden_act),
        "positions": "learned",
        "embedding_norm": "present",
        "segment": "present",
        "embedding_width": theirs.embedding_size if f"{names.widening}.weight" in source else None,
        **_head_of(source, theirs, names=names),
    }


def _albert_shape(theirs: Any, source: Source, *, names: Names) -> dict[str, Any]:
    """All layers share their weights, or none does."""
    n_groups, in_group = theirs.num_hidden_groups, theirs.inner_group_num
    if in_group != 1 or n_groups not in (1, theirs.num_hidden_layers):
        raise Refused(
            f"Its {theirs.num_hidden_layers} layers share weights in {n_groups} groups of {in_group}; only models in "
            "which all share them, or none, are known here."
        )
    shared = "present" if n_groups == 1 else "absent"
    return _bert_shape(theirs, source, names=names) | {"shared_layers": shared}


def _gelu_shape(theirs: Any, source: Source, *, names: Names) -> dict[str, Any]:
    """Their heads always have GELU."""
    shape = _bert_shape(theirs, source, names=names)
    if shape["head"] == "transform" and shape["feed_forward"] != "gelu":
        raise Refused("Its head has another function than its feed-forward layers, which is not known here.")
    return shape


def _distilbert_shape(theirs: Any, source: Source, *, names: Names) -> dict[str, Any]:
    _refuse_decoders(theirs)
    return {
        "architecture": "encoder-only",
        "d_model": theirs.dim,
        "n_layers": theirs.n_layers,
        "n_heads": theirs.n_heads,
        "n_kv_heads": theirs.n_heads,
        "d_ff": theirs.hidden_dim,
        "norm_position": "post",
        "norm_eps": 1e-12,
        "feed_forward": function(theirs.activation),
        "positions": "learned",
        "embedding_norm": "present",
        **_head_of(source, theirs, names=names),
    }


BERT_LAYER = {
    "attention.self.query": "self_attn.W_Q",
    "attention.self.key": "self_attn.W_K",
    "attention.self.value": "self_attn.W_V",
    "attention.output.dense": "self_attn.W_O",
    "intermediate.dense": "mlp.W_in",
    "output.dense": "mlp.W_out",
    "attention.output.LayerNorm": "self_attn_residual.norm",
    "output.LayerNorm": "mlp_residual.norm",
}
ALBERT_LAYER = {
    "albert_layers.0.attention.query": "self_attn.W_Q",
    "albert_layers.0.attention.key": "self_attn.W_K",
    "albert_layers.0.attention.value": "self_attn.W_V",
    "albert_layers.0.attention.dense": "self_attn.W_O",
    "albert_layers.0.ffn": "mlp.W_in",
    "albert_layers.0.ffn_output": "mlp.W_out",
    "albert_layers.0.attention.LayerNorm": "self_attn_residual.norm",
    "albert_layers.0.full_layer_layer_norm": "mlp_residual.norm",
}
DISTILBERT_LAYER = {
    "attention.q_lin": "self_attn.W_Q",
    "attention.k_lin": "self_attn.W_K",
    "attention.v_lin": "self_attn.W_V",
    "attention.out_lin": "self_attn.W_O",
    "ffn.lin1": "mlp.W_in",
    "ffn.lin2": "mlp.W_out",
    "sa_layer_norm": "self_attn_residual.norm",
    "output_layer_norm": "mlp_residual.norm",
}
"""Their names of a layer's parts, and ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """Where a family keeps its tensors.

    Attributes:
        layers: their path.
        parts: its names of a layer's parts, and ours.
        dense, norm, bias: of its head: the linear step, its norm, and the holder of the logits' bias.
        W_U: the output layer, where it is not the embedding.
        widening: the matrix from embeddings to d_model.
    """

    layers: str
    parts: dict[str, str]
    dense: str
    norm: str
    bias: str
    W_U: str
    widening: str = "embeddings_project"


BERT = Names(
    layers="encoder.layer",
    parts=BERT_LAYER,
    dense="cls.predictions.transform.dense",
    norm="cls.predictions.transform.LayerNorm",
    bias="cls.predictions",
    W_U="cls.predictions.decoder.weight",
)
ROBERTA = Names(
    layers="encoder.layer",
    parts=BERT_LAYER,
    dense="lm_head.dense",
    norm="lm_head.layer_norm",
    bias="lm_head",
    W_U="lm_head.decoder.weight",
)
ELECTRA = Names(
    layers="encoder.layer",
    parts=BERT_LAYER,
    dense="generator_predictions.dense",
    norm="generator_predictions.LayerNorm",
    bias="generator_lm_head",
    W_U="generator_lm_head.weight",
)
ALBERT = Names(
    layers="encoder.albert_layer_groups",
    parts=ALBERT_LAYER,
    dense="predictions.dense",
    norm="predictions.LayerNorm",
    bias="predictions",
    W_U="predictions.decoder.weight",
    widening="encoder.embedding_hidden_mapping_in",
)
DISTILBERT = Names(
    layers="transformer.layer",
    parts=DISTILBERT_LAYER,
    dense="vocab_transform",
    norm="vocab_layer_norm",
    bias="vocab_projector",
    W_U="vocab_projector.weight",
)


def _weights(source: Source, theirs: Any, ours: ModelConfig, *, names: Names) -> Weights:
    yield "embedding.W_E", source["embeddings.word_embeddings.weight"]
    if not ours.embeddings.tied:
        yield "embedding.W_U", source[names.W_U]
    if ours.embeddings.segment:
        yield "embedding.segment", source[TYPES][0]
    if ours.embeddings.separator is not None:
        yield "embedding.second_segment", source[TYPES][1]
    first = _first_position(theirs)
    yield "encoder.positions.table", source["embeddings.position_embeddings.weight"][first : first + ours.max_len]
    yield from norm(source, "embeddings.LayerNorm", "encoder.embed_norm")
    if ours.embeddings.width is not None:
        yield from linear(source, names.widening, "encoder.widening")
    for n in range(ours.n_blocks("encoder")):
        for old, new in names.parts.items():
            yield from linear(source, f"{names.layers}.{n}.{old}", f"encoder.blocks.{n}.{new}")
    if ours.head == "transform":
        yield from linear(source, names.dense, "head.transform.W")
        yield from norm(source, names.norm, "head.transform.norm")
        decoder = f"{names.bias}.decoder.bias"  # stored twice where the output layer is the embedding
        yield "head.b_U", source[decoder if decoder in source else f"{names.bias}.bias"]


TYPES = "embeddings.token_type_embeddings.weight"
"""A vector for each of two texts."""

ROBERTAS = ("roberta", "xlm-roberta", "camembert")
"""Types that are one model."""


def _first_position(theirs: Any) -> int:
    """The first token's row of the table: RoBERTa counts from after its padding."""
    return theirs.pad_token_id + 1 if theirs.model_type in ROBERTAS else 0


def _family(shape: Any, *, names: Names, prefix: str) -> Family:
    return Family(
        shape=partial(shape, names=names),
        weights=partial(_weights, names=names),
        context=lambda theirs: theirs.max_position_embeddings - _first_position(theirs),
        reference="AutoModelForMaskedLM",
        prefix=prefix,
        left_out=LEFT_OUT,
    )


MODERN = Layout(
    outside={
        "embedding.W_E": "embeddings.tok_embeddings.weight",
        "embedding.W_U": "decoder.weight",
        "embed_norm": "embeddings.norm",
        "norm": "final_norm",
        "head.b_U": "decoder.bias",
        "head.transform.W": "head.dense",
        "head.transform.norm": "head.norm",
    },
    layer={
        **all_of("attn.Wqkv"),
        **{"self_attn.W_O": "attn.Wo", "self_attn_residual.norm": "attn_norm"},
        **{"mlp.W_gate": "mlp.Wi", "mlp.W_in": "mlp.Wi", "mlp.W_out": "mlp.Wo", "mlp_residual.norm": "mlp_norm"},
    },
)


MODERN_DECODER = with_parts(
    replace(
        MODERN,
        outside=dict(MODERN.outside) | {"head.transform.W": "lm_head.dense", "head.transform.norm": "lm_head.norm"},
    ),
    {f"self_attn.W_{letter.upper()}": f"attn.{letter}_proj" for letter in "qkv"},
)
MODERN_HEAD = {"modernbert": "head", "modernbert-decoder": "lm_head"}


def _modern_shape(theirs: Any, source: Source) -> dict[str, Any]:
    """Its first layer reads the normed embedding."""
    if theirs.classifier_activation != theirs.hidden_activation:
        raise Refused("Its head has another function than its layers (classifier_activation), which is not known here.")
    if not theirs.decoder_bias:
        raise Refused("Its output layer has no bias (decoder_bias), which is not known here.")
    dense = f"{MODERN_HEAD[theirs.model_type]}.dense.weight"
    head = "transform" if dense in source else "none"
    return {
        "architecture": "encoder-only" if theirs.model_type == "modernbert" else "decoder-only",
        "d_model": theirs.hidden_size,
        "n_layers": theirs.num_hidden_layers,
        "n_heads": theirs.num_attention_heads,
        "n_kv_heads": theirs.num_attention_heads,
        "d_ff": theirs.intermediate_size,
        "norm_eps": theirs.norm_eps,
        "first_norm": "absent",
        "feed_forward": function(theirs.hidden_activation, gated=True),
        "embedding_norm": "present",
        **turns(theirs, theirs.hidden_size // theirs.num_attention_heads),
        **windows(theirs, more=int(theirs.model_type == "modernbert")),
        "head": head,
        **(
            embeddings(source, theirs, W_E=MODERN.outside["embedding.W_E"], W_U="decoder.weight")
            if head == "transform"
            else {"embeddings": "tied"}
        ),
    }


FAMILIES = {
    "modernbert": Family(
        shape=_modern_shape,
        weights=MODERN.weights,
        context=plain_context,
        reference="AutoModelForMaskedLM",
        prefix="model.",
        left_out=("*.inv_freq", "classifier.*"),
    ),
    "modernbert-decoder": Family(
        shape=_modern_shape,
        weights=MODERN_DECODER.weights,
        context=plain_context,
        reference="AutoModelForCausalLM",
        prefix="model.",
        left_out=("*.inv_freq", "classifier.*"),
    ),
    "eurobert": family(LLAMA, gated, all_turn, fixed(architecture="encoder-only"), reference="AutoModelForMaskedLM"),
    "bert": _family(_bert_shape, names=BERT, prefix="bert."),
    **{name: _family(_gelu_shape, names=ROBERTA, prefix="roberta.") for name in ROBERTAS},
    "albert": _family(_albert_shape, names=ALBERT, prefix="albert."),
    "electra": _family(_gelu_shape, names=ELECTRA, prefix="electra."),
    "distilbert": _family(_distilbert_shape, names=DISTILBERT, prefix="distilbert."),
}
"""By `model_type`."""
