"""RoPE against the reference implementations and the laws that define it."""

import math

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from tests.cases import each
from tests.model.helpers import assert_close, normal
from tests.model.sizes import BATCH, D_HEAD, D_MODEL, K_LENGTH, LENGTH, MAX_LEN, N_HEADS
from tfmviz.positions.rope import Rope, base_of, frequencies, stretched
from tfmviz.record.tap import NO_TAP

Q, K = normal(BATCH, N_HEADS, LENGTH, D_HEAD), normal(BATCH, N_HEADS, LENGTH, D_HEAD, seed=3)


@each("max_len", [5, 1])
def test_rope_past_max_len_turns_on(max_len: int) -> None:
    """Angles are defined for any length: a short table must not stop the turning, let alone silently."""
    short, long = (Rope(max_len=length, d_head=D_HEAD).rotate(Q, K, NO_TAP) for length in (max_len, LENGTH))
    for actual, expected in zip(short, long, strict=True):
        assert_close(actual, expected)


def test_rope_equals_llamas_up_to_the_order_of_coordinates() -> None:
    """The queries stand at the last of the keys' positions."""
    keys = normal(BATCH, N_HEADS, K_LENGTH, D_HEAD, seed=3)
    llama = LlamaRotaryEmbedding(LlamaConfig(hidden_size=D_MODEL, num_attention_heads=N_HEADS))
    evens_then_odds = torch.arange(D_HEAD).unflatten(0, (-1, 2)).T.flatten()
    for ours, turned in zip((Q, keys), Rope(max_len=MAX_LEN, d_head=D_HEAD).rotate(Q, keys, NO_TAP), strict=True):
        theirs = ours[..., evens_then_odds]
        cos, sin = llama(theirs, torch.arange(K_LENGTH - ours.shape[-2], K_LENGTH)[None])
        expected, _ = apply_rotary_pos_emb(theirs, theirs, cos, sin)
        assert_close(turned[..., evens_then_odds], expected)


def rope_of_transformers(kind: str, *, base: float, **parameters: float) -> Tensor:
    """What transformers multiplies positions with, for texts five times as long as the 23 trained on."""
    config = LlamaConfig(hidden_size=D_MODEL, num_attention_heads=N_HEADS, max_position_embeddings=23)
    config.rope_parameters = {"rope_type": kind, "rope_theta": base, **parameters}
    found, attention_factor = ROPE_INIT_FUNCTIONS[kind](config, seq_len=5 * 23)
    assert attention_factor == 1
    return found


@each("base", [10_000.0, 500_000.0, 7.0])
def test_stretched_frequencies_equal_transformers(base: float) -> None:
    """Dynamic NTK scaling with factor 1 stretches by the ratio of the lengths, which is what scale is here."""
    theirs = {"none": ("linear", 1.0), "position interpolation": ("linear", 5.0), "NTK-aware": ("dynamic", 1.0)}
    for kind, (named, factor) in theirs.items():
        ours = stretched(frequencies(D_HEAD, base=base), scale=5, stretching=kind)  # type: ignore[arg-type]
        assert_close(ours.float(), rope_of_transformers(named, base=base, factor=factor))


LLAMA_3 = {"rope_type": "llama3", "rope_theta": 500_000.0, "original_max_position_embeddings": 8192}
LLAMA_3 |= {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def test_the_base_is_read_off_the_angles() -> None:
    """Of Llama 3.1 too, whose slow pairs are slowed down and whose fast ones are not."""
    llama = LlamaConfig(hidden_size=4096, num_attention_heads=32, max_position_embeddings=131_072)
    llama.rope_parameters = LLAMA_3
    theta, _ = ROPE_INIT_FUNCTIONS["llama3"](llama)
    assert base_of(theta) == pytest.approx(500_000, rel=1e-4)
    assert base_of(frequencies(D_HEAD, base=777) / 3) == pytest.approx(777)
    assert base_of(torch.cat((frequencies(8, base=50), torch.zeros(5)))) == pytest.approx(50)
    assert base_of(torch.tensor([1.0, 0.5, 0.1])) is None
    assert base_of(torch.tensor([1.0, 0.5])) is None


def test_angles_of_any_kind_are_stretched() -> None:
    theta = torch.tensor([1.0, 0.5, 0.1], dtype=torch.float64)
    assert_close(stretched(theta, scale=4, stretching="NTK-aware"), theta / torch.tensor([1.0, 2.0, 4.0]).double())
    assert_close(stretched(theta, scale=4, stretching="position interpolation"), theta / 4)


REFUSED = (
    *((7, 1e4, 2, "even.*7"), (0, 1e4, 2, "even.*0"), (-2, 1e4, 2, "even.*-2")),
    *((8, base, 2, f"base must be larger than 1.*it is {base}") for base in (1, -3)),
    *((8, base, 2, "base must be larger than 1") for base in (math.inf, math.nan)),
    *((8, 1e4, 0.5, "scale must be at least 1; it is 0.5"), (2, 1e4, 2, "d_head = 2 there is one pair")),
)


@each("d_head, base, scale, said", REFUSED)
def test_what_makes_no_frequencies_is_refused_in_a_sentence(d_head: int, base: float, scale: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        stretched(frequencies(d_head, base=base), scale=scale, stretching="NTK-aware")


def test_a_head_of_one_pair_turns_by_one_a_position() -> None:
    assert frequencies(2).tolist() == [1]
    assert stretched(frequencies(2), scale=4, stretching="position interpolation").tolist() == [0.25]
