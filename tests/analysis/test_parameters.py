"""Counted parameters against models that are built: transformers' of published shapes, and the house's own."""

from typing import Any

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, LlamaConfig, LlamaForCausalLM, T5Config
from transformers.models.t5 import T5ForConditionalGeneration

from tests.cases import each
from tests.model.helpers import config
from tests.model.sizes import ARCHITECTURES
from tfmviz.analysis.parameters import PUBLISHED, Design, cache, counts, of_lectures, rule_of_twelve, training_flops
from tfmviz.model.transformer import build
from tfmviz.model.weights import weights_of
from tfmviz.record.facts import Architecture
from tfmviz.ui.size.parts import design_of


def built(name: str) -> nn.Module:
    """The same model from transformers, without memory for its numbers."""
    d = PUBLISHED[name].design
    heads = {"n_layer": d.n_decoder, "n_embd": d.d_model, "n_head": d.d_model // 64}
    match name.split()[0]:
        case "GPT-2" | "GPT-3":
            return GPT2Model(GPT2Config(**heads, n_positions=d.n_positions // d.d_model))
        case "BERT":
            shape = {"num_hidden_layers": d.n_encoder, "num_attention_heads": d.d_model // 64}
            return BertModel(BertConfig(**shape, hidden_size=d.d_model, intermediate_size=d.d_ff))
        case "T5":
            return T5ForConditionalGeneration(T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12))
        case _:
            shape = {"num_hidden_layers": d.n_decoder, "num_attention_heads": 32, "num_key_value_heads": d.d_kv // 128}
            shape |= {"vocab_size": d.vocab_size, "hidden_size": d.d_model, "intermediate_size": d.d_ff}
            return LlamaForCausalLM(LlamaConfig(**shape))


@each("name", [name for name in PUBLISHED if not name.startswith("Transformer")])
def test_a_published_model_has_as_many_parameters_as_transformers_builds(name: str) -> None:
    with torch.device("meta"):
        module = built(name)
    assert sum(counts(PUBLISHED[name].design).values()) == sum(p.numel() for p in module.parameters())


@each("name", list(PUBLISHED))
def test_what_is_counted_is_what_the_authors_say_up_to_their_rounding(name: str) -> None:
    known = PUBLISHED[name]
    assert sum(counts(known.design).values()) == pytest.approx(known.said, rel=0.07)


CHANGES: list[dict[str, Any]] = [
    *({}, {"sink": "present"}, {"norm_position": "both", "qk_norm": "present"}),
    {"feed_forward": "none", "positions": "t5"},
    {"n_heads": 4, "n_kv_heads": 2, "d_model": 40, "positions": "learned"},
    {"feed_forward": "swiglu", "norm": "rms", "embeddings": "untied"},
    {"norm_position": "post", "positions": "sinusoidal"},
]


@each("architecture", ARCHITECTURES)
@each("changes", CHANGES)
def test_a_house_model_has_as_many_parameters_as_in_torch(architecture: Architecture, changes: dict[str, Any]) -> None:
    made = config(architecture=architecture, **changes)
    module = build(made)
    sizes = {name: p.numel() for name, p in module.named_parameters()}
    found = counts(design_of(made, weights_of(module)))
    assert sum(found.values()) == sum(sizes.values())
    assert found["other"] >= 0
    assert found["embedding"] == made.vocab_size * made.d_model
    assert found["attention"] == sum(n for name, n in sizes.items() if ".self_attn.W_" in name)
    assert found["feed-forward"] == sum(n for name, n in sizes.items() if ".mlp.W_" in name)


def test_the_rules_of_thumb_are_the_lectures_and_the_authors() -> None:
    gpt_3 = PUBLISHED["GPT-3"].design
    assert rule_of_twelve(gpt_3) == of_lectures(gpt_3) == pytest.approx(1.74e11, rel=1e-3)
    matrices = counts(gpt_3)["attention"] + counts(gpt_3)["feed-forward"]
    assert matrices == pytest.approx(rule_of_twelve(gpt_3), rel=1e-3)
    assert training_flops(PUBLISHED["GPT-3"].design, 300e9) == pytest.approx(3.14e23, rel=0.01)
    assert cache(PUBLISHED["Llama 3 8B"].design, 8192, 2) == 2**30
    assert cache(Design(n_encoder=3, d_model=8, d_attn=8, d_kv=8, d_ff=32, vocab_size=11), 100, 4) == 0
