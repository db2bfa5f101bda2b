"""Parameters and caches against models that are built: transformers' of published shapes, and the house's own."""

from typing import Any

import pytest
import torch
import transformers as hf
from torch import nn

from tests.cases import each
from tests.model.helpers import config, lively_model
from tests.model.sizes import ARCHITECTURES, D_HEAD, MAX_LEN
from tfmviz.analysis.cache_cost import KNOWN, Kept
from tfmviz.analysis.parameters import PUBLISHED, Design, cache, counts, of_lectures, rule_of_twelve, training_flops
from tfmviz.model.cache import Cache
from tfmviz.model.timing import step_times
from tfmviz.model.transformer import DecoderOnly, build
from tfmviz.model.weights import weights_of
from tfmviz.record.facts import Architecture
from tfmviz.ui.size.parts import design_of


def built(name: str) -> nn.Module:
    """The same model from transformers, without memory for its numbers."""
    d = PUBLISHED[name].design
    heads = {"n_layer": d.n_decoder, "n_embd": d.d_model, "n_head": d.d_model // 64}
    match name.split()[0]:
        case "GPT-2" | "GPT-3":
            return hf.GPT2Model(hf.GPT2Config(**heads, n_positions=d.n_positions // d.d_model))
        case "BERT":
            shape = {"num_hidden_layers": d.n_encoder, "num_attention_heads": d.d_model // 64}
            return hf.BertModel(hf.BertConfig(**shape, hidden_size=d.d_model, intermediate_size=d.d_ff))
        case "T5":
            return hf.T5ForConditionalGeneration(hf.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12))
        case _:
            shape = {"num_hidden_layers": d.n_decoder, "num_attention_heads": 32, "num_key_value_heads": d.d_kv // 128}
            shape |= {"vocab_size": d.vocab_size, "hidden_size": d.d_model, "intermediate_size": d.d_ff}
            return hf.LlamaForCausalLM(hf.LlamaConfig(**shape))


@each("name", [name for name in PUBLISHED if not name.startswith("Transformer")])
def test_a_published_model_has_as_many_parameters_as_transformers_builds(name: str) -> None:
    with torch.device("meta"):
        module = built(name)
    assert sum(counts(PUBLISHED[name].design).values()) == sum(p.numel() for p in module.parameters())


@each("name", list(PUBLISHED))
def test_what_is_counted_is_what_the_authors_say_up_to_their_rounding(name: str) -> None:
    known = PUBLISHED[name]
    assert sum(counts(known.design).values()) == pytest.approx(known.reported, rel=0.07)


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


@each("n_heads, n_kv_heads", [(3, 3), (4, 2), (4, 1)])
def test_bytes_are_those_of_the_tensors_that_are_kept(n_heads: int, n_kv_heads: int) -> None:
    model = lively_model(n_heads=n_heads, n_kv_heads=n_kv_heads, d_model=n_heads * D_HEAD)
    seen: dict[str, int] = {}

    class Sizes(Cache):
        def __call__(self, name: str, value: torch.Tensor) -> torch.Tensor:
            kept = super().__call__(name, value)
            if name in ("k", "v"):
                seen[self._prefix + name] = kept.nbytes
            return kept

    cache = Sizes()
    with torch.no_grad():
        model(torch.arange(7)[None], cache)
        model(torch.arange(2)[None], cache, past=7)
    kept = Kept(n_layers=model.config.n_layers, n_kv_heads=n_kv_heads, d_head=D_HEAD, size=4)
    assert sum(seen.values()) == kept.at(9) == 9 * kept.per_token


def test_published_models_take_what_is_said_of_them_and_windows_no_more_than_they_hold() -> None:
    local, full = (Kept(n_layers=10, n_kv_heads=3, d_head=7, size=2, n_local=n, window=25 * n) for n in (4, 0))
    assert local.at(100) == full.at(100)
    assert local.at(350) == 2 * 3 * 7 * 2 * (6 * 350 + 4 * 100)
    kept = {
        name: Kept(n_layers=m.n_layers, n_kv_heads=m.n_kv_heads, d_head=m.d_head, size=2).per_token / 2**10
        for name, m in KNOWN.items()
    }
    assert (kept["Llama 2 7B"], kept["Llama 3 8B"], kept["Mistral 7B"], kept["GPT-2 small"]) == (512, 128, 128, 36)
    assert all(m.n_heads % m.n_kv_heads == 0 and m.n_local <= m.n_layers for m in KNOWN.values())


DEFAULTS = {"GPT-2 small": hf.GPT2Config(), "Llama 2 7B": hf.LlamaConfig(), "Mistral 7B": hf.MistralConfig()}


@each("name, config", [*DEFAULTS.items(), ("Falcon 7B", hf.FalconConfig())])
def test_published_shapes_are_what_transformers_builds_by_default(name: str, config: hf.PreTrainedConfig) -> None:
    known, n_heads = KNOWN[name], config.num_attention_heads
    shares = 1 if getattr(config, "multi_query", False) else getattr(config, "num_key_value_heads", None) or n_heads
    d_head = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    window = getattr(config, "sliding_window", None)
    expected = (config.num_hidden_layers, n_heads, shares, d_head, config.num_hidden_layers if window else 0)
    assert (known.n_layers, known.n_heads, known.n_kv_heads, known.d_head, known.n_local) == expected
    assert known.window == (window or 0)


def test_gemma_2_has_its_windows_and_measured_steps_leave_the_model_as_it_was() -> None:
    """Its defaults are the 2B model's; window, d_head and the alternation are the same in all sizes."""
    known, config = KNOWN["Gemma 2 9B"], hf.Gemma2Config()
    assert (known.window, known.d_head) == (config.sliding_window, config.head_dim)
    assert config.layer_types is not None
    assert known.n_local / known.n_layers == config.layer_types.count("sliding_attention") / config.num_hidden_layers
    model = lively_model(positions="rope")
    assert isinstance(model, DecoderOnly)
    before = torch.get_rng_state()
    without, kept = step_times(model, (3, 7, MAX_LEN), rounds=2)
    assert len(without) == len(kept) == 3
    assert all(value > 0 for value in (*without, *kept))
    assert torch.get_rng_state().equal(before)
