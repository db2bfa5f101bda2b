"""What the cache costs: bytes against real tensors, shapes against transformers."""

import torch
from transformers import FalconConfig, Gemma2Config, GPT2Config, LlamaConfig, MistralConfig, PreTrainedConfig

from tests.cases import each
from tests.model.helpers import lively_model
from tests.model.sizes import D_HEAD, MAX_LEN
from tfmviz.analysis.cache_cost import KNOWN, Kept
from tfmviz.model.cache import Cache
from tfmviz.model.timing import step_times
from tfmviz.model.transformer import DecoderOnly


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


DEFAULTS = {"GPT-2 small": GPT2Config(), "Llama 2 7B": LlamaConfig(), "Mistral 7B": MistralConfig()}


@each("name, config", [*DEFAULTS.items(), ("Falcon 7B", FalconConfig())])
def test_published_shapes_are_what_transformers_builds_by_default(name: str, config: PreTrainedConfig) -> None:
    known, n_heads = KNOWN[name], config.num_attention_heads
    shares = 1 if getattr(config, "multi_query", False) else getattr(config, "num_key_value_heads", None) or n_heads
    d_head = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    window = getattr(config, "sliding_window", None)
    expected = (config.num_hidden_layers, n_heads, shares, d_head, config.num_hidden_layers if window else 0)
    assert (known.n_layers, known.n_heads, known.n_kv_heads, known.d_head, known.n_local) == expected
    assert known.window == (window or 0)


def test_gemma_2_has_its_windows_and_measured_steps_leave_the_model_as_it_was() -> None:
    """Its defaults are the 2B model's; window, d_head and the alternation are the same in all sizes."""
    known, config = KNOWN["Gemma 2 9B"], Gemma2Config()
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
