"""Position schemes against published values, the reference implementations and the laws that define them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, T5Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.roformer.modeling_roformer import (
    RoFormerSelfAttention,
    RoFormerSinusoidalPositionalEmbedding,
)
from transformers.models.t5.modeling_t5 import T5Attention

from tests.model_helpers import (
    BATCH,
    D_HEAD,
    D_MODEL,
    K_LENGTH,
    LENGTH,
    MAX_LEN,
    N_HEADS,
    assert_close,
    config,
    lively,
    normal,
)
from tfmviz import masks
from tfmviz.model.block import build_positions
from tfmviz.model.config import PositionScheme
from tfmviz.positions.alibi import Alibi, slopes
from tfmviz.positions.base import Positions
from tfmviz.positions.learned import Learned
from tfmviz.positions.rope import Rope, frequencies, rotate_pairs, rotation_angles, stretched_frequencies
from tfmviz.positions.sinusoidal import (
    MAX_POSITION,
    Sinusoidal,
    sines_first,
    sinusoids,
    sinusoids_at,
    wavelengths,
)
from tfmviz.positions.t5 import MAX_DISTANCE, N_BUCKETS, T5Relative, buckets
from tfmviz.tap import NO_TAP, Recorder

# The interface.


@pytest.mark.parametrize(
    ("scheme", "acts_in"),
    [
        ("none", set()),
        ("learned", {"embed"}),
        ("sinusoidal", {"embed"}),
        ("rope", {"rotate"}),
        ("alibi", {"bias"}),
        ("t5", {"bias"}),
    ],
)
def test_each_scheme_acts_in_one_place_only(scheme: PositionScheme, acts_in: set[str]) -> None:
    positions = lively(build_positions(config(positions=scheme), bidirectional=True))
    x, q = normal(BATCH, LENGTH, D_MODEL), normal(BATCH, N_HEADS, LENGTH, D_HEAD)
    k = normal(BATCH, N_HEADS, K_LENGTH, D_HEAD, seed=3)
    rot_q, rot_k = positions.rotate(q, k, NO_TAP)
    acts = {
        "embed": not torch.equal(positions.embed(x, NO_TAP), x),
        "rotate": not torch.equal(rot_q, q) and not torch.equal(rot_k, k),
        "bias": positions.bias(LENGTH, K_LENGTH) is not None,
    }
    assert {seam for seam, does in acts.items() if does} == acts_in


@pytest.mark.parametrize("scheme", [Sinusoidal(max_len=MAX_LEN, d_model=D_MODEL), Rope(max_len=MAX_LEN, d_head=D_HEAD)])
def test_what_follows_from_a_formula_is_not_stored_with_the_weights(scheme: Positions) -> None:
    assert list(scheme.parameters()) == []
    assert dict(scheme.state_dict()) == {}


# Sinusoids.


def test_sinusoids_of_the_worked_example() -> None:
    """Four dimensions, as printed in many lectures on the 2017 paper."""
    published = torch.tensor(
        [
            [0.0, 1.0, 0.0, 1.0],
            [0.84147, 0.54030, 0.01000, 0.99995],
            [0.90930, -0.41615, 0.02000, 0.99980],
            [0.14112, -0.98999, 0.03000, 0.99955],
        ]
    )
    assert_close(sinusoids(4, 4), published)


def test_sinusoids_entry_by_entry() -> None:
    table = sinusoids(MAX_LEN, D_MODEL)
    assert table.shape == (MAX_LEN, D_MODEL)
    for position in range(MAX_LEN):
        for column in range(D_MODEL):
            angle = position / 10000 ** ((column - column % 2) / D_MODEL)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert table[position, column].item() == pytest.approx(expected, abs=1e-7)


def test_sinusoids_of_keras_hub() -> None:
    """Position 3 with six dimensions, from keras-hub's test of its sine position encoding."""
    assert_close(sinusoids(4, 6)[3], torch.tensor([0.14112, -0.98999, 0.13879, 0.99032, 0.00646, 0.99997]))


def test_sinusoids_are_marians_up_to_the_order_of_columns() -> None:
    """Marian stores [all sines | all cosines]."""
    reference: Any = MarianSinusoidalPositionalEmbedding(MAX_LEN, D_MODEL)
    assert_close(sinusoids(MAX_LEN, D_MODEL)[:, sines_first(D_MODEL)], reference.create_weight())
    assert sorted(sines_first(D_MODEL).tolist()) == list(range(D_MODEL))


def test_wavelengths_grow_evenly_from_2_pi_towards_2_pi_times_the_base() -> None:
    """Section 3.5: "a geometric progression from 2π to 10000 · 2π"."""
    found = wavelengths(512)
    assert found[0].item() == pytest.approx(2 * math.pi)
    assert_close(found[1:] / found[:-1], torch.full((255,), 10000 ** (2 / 512), dtype=torch.float64))
    assert (found[-1] * (found[1] / found[0])).item() == pytest.approx(2 * math.pi * 10000)
    assert wavelengths(4, base=100)[1].item() == pytest.approx(2 * math.pi * 10)


@pytest.mark.parametrize("base", [2.0, 10_000.0, 1_000_000.0])
def test_sinusoids_come_round_after_a_wavelength(base: float) -> None:
    """With any base."""
    table, lengths = sinusoids(23, 6, base=base).double(), wavelengths(6, base=base)
    angle = 2 * math.pi * torch.arange(23)[:, None] / lengths
    assert_close(table[:, 0::2], angle.sin())
    assert_close(table[:, 1::2], angle.cos())


def test_any_rows_of_the_table_can_be_asked_for() -> None:
    assert torch.equal(sinusoids_at(torch.tensor([7, 0, 3]), 6), sinusoids(8, 6)[[7, 0, 3]])
    assert sinusoids_at(torch.tensor([MAX_POSITION]), 2).isfinite().all()
    assert sinusoids(0, 4).shape == (0, 4)


@pytest.mark.parametrize(
    ("positions", "d", "base", "said"),
    [
        ([0], 7, 10_000.0, "even.*7"),
        ([0], 0, 10_000.0, "even.*0"),
        ([0], -2, 10_000.0, "even.*-2"),
        ([0], 4, 1.0, "more than 1.*is 1"),
        ([0], 4, -3.0, "more than 1.*-3"),
        ([0], 4, math.nan, "more than 1.*nan"),
        ([2, -3], 4, 10_000.0, "from 0.*-3"),
        ([MAX_POSITION + 1], 4, 10_000.0, "16,777,217"),
    ],
)
def test_sinusoids_that_make_no_sense_are_refused_with_a_reason(
    positions: list[int], d: int, base: float, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        sinusoids_at(torch.tensor(positions), d, base=base)


@pytest.mark.parametrize("shift", [1, 5])
def test_a_shift_turns_every_sine_and_cosine_pair_by_an_angle_of_its_own(shift: int) -> None:
    """PE(pos + k) is a rotation of PE(pos), the same wherever pos is: why a shift is easy to learn (section 3.5)."""
    pairs = sinusoids(MAX_LEN + shift, D_MODEL).unflatten(-1, (-1, 2))  # (len, d_model / 2, 2)
    angle = shift * 10000 ** (-torch.arange(0, D_MODEL, 2) / D_MODEL)
    rotation = torch.stack((angle.cos(), angle.sin(), -angle.sin(), angle.cos()), dim=-1).unflatten(-1, (2, 2))
    assert_close(torch.einsum("prc,lpc->lpr", rotation, pairs[:-shift]), pairs[shift:])


def test_sinusoids_are_added_to_the_embeddings() -> None:
    x, recorder = normal(BATCH, LENGTH, D_MODEL), Recorder()
    embedded = Sinusoidal(max_len=MAX_LEN, d_model=D_MODEL).embed(x, recorder)
    assert_close(embedded - x, sinusoids(LENGTH, D_MODEL).expand_as(x))
    assert torch.equal(recorder.values["pos_embed"][0], sinusoids(LENGTH, D_MODEL))


# Learned positions.


def test_learned_positions_are_added_to_the_embeddings() -> None:
    positions, x, recorder = (
        lively(Learned(max_len=MAX_LEN, d_model=D_MODEL)),
        normal(BATCH, LENGTH, D_MODEL),
        Recorder(),
    )
    assert torch.equal(positions.embed(x, recorder), x + positions.table[:LENGTH])
    assert torch.equal(recorder.values["pos_embed"][0], positions.table[:LENGTH])


def test_learned_positions_serve_texts_up_to_max_len() -> None:
    positions = Learned(max_len=MAX_LEN, d_model=D_MODEL)
    assert positions.embed(normal(BATCH, MAX_LEN, D_MODEL), NO_TAP).shape == (BATCH, MAX_LEN, D_MODEL)


def test_the_first_learned_positions_are_rows_of_the_table() -> None:
    positions = lively(Learned(max_len=5, d_model=D_MODEL))
    assert torch.equal(positions.first(3), positions.table[:3])
    with pytest.raises(ValueError, match=r"5 learned.*6"):
        positions.first(6)


# Past max_len.


@pytest.mark.parametrize("max_len", [LENGTH - 1, 1])
def test_learned_positions_past_max_len_name_both_numbers(max_len: int) -> None:
    with pytest.raises(ValueError, match=rf"\b{max_len}\b.*\b{LENGTH}\b"):
        Learned(max_len=max_len, d_model=D_MODEL).embed(normal(BATCH, LENGTH, D_MODEL), NO_TAP)


@pytest.mark.parametrize("max_len", [5, 1])
def test_sinusoids_are_defined_for_any_length(max_len: int) -> None:
    x = normal(BATCH, LENGTH, D_MODEL)
    embedded = Sinusoidal(max_len=max_len, d_model=D_MODEL).embed(x, NO_TAP)
    assert_close(embedded, x + sinusoids(LENGTH, D_MODEL))


@pytest.mark.parametrize("max_len", [5, 1])
def test_rope_past_max_len_turns_on(max_len: int) -> None:
    """Angles are defined for any length: a short table must not stop the turning, let alone silently."""
    q, k = normal(BATCH, N_HEADS, LENGTH, D_HEAD), normal(BATCH, N_HEADS, LENGTH, D_HEAD, seed=3)
    short, long = Rope(max_len=max_len, d_head=D_HEAD), Rope(max_len=LENGTH, d_head=D_HEAD)
    for actual, expected in zip(short.rotate(q, k, NO_TAP), long.rotate(q, k, NO_TAP), strict=True):
        assert_close(actual, expected)


# RoPE.


def rotated(x: Tensor) -> Tensor:
    """x, (batch, head, len, d_head), turned by its positions."""
    return Rope(max_len=MAX_LEN, d_head=D_HEAD).rotate(x, x, NO_TAP)[0]


def test_rope_multiplies_pairs_by_a_complex_phase() -> None:
    x = normal(BATCH, N_HEADS, LENGTH, D_HEAD)
    theta = 10000.0 ** (-torch.arange(0, D_HEAD, 2) / D_HEAD)
    phase = torch.polar(torch.ones(LENGTH, D_HEAD // 2), torch.outer(torch.arange(LENGTH).float(), theta))
    numbers = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())  # (batch, head, len, d_head / 2)
    assert_close(rotated(x), torch.view_as_real(numbers * phase).flatten(-2))


def test_rope_equals_llamas_up_to_the_order_of_coordinates() -> None:
    """The queries stand at the last of the keys' positions."""
    q, k = normal(BATCH, N_HEADS, LENGTH, D_HEAD), normal(BATCH, N_HEADS, K_LENGTH, D_HEAD, seed=3)
    rot_q, rot_k = Rope(max_len=MAX_LEN, d_head=D_HEAD).rotate(q, k, NO_TAP)

    llama = LlamaRotaryEmbedding(LlamaConfig(hidden_size=D_MODEL, num_attention_heads=N_HEADS))
    evens_then_odds = torch.arange(D_HEAD).unflatten(0, (-1, 2)).T.flatten()
    for ours, turned in ((q, rot_q), (k, rot_k)):
        theirs = ours[..., evens_then_odds]
        cos, sin = llama(theirs, torch.arange(K_LENGTH - ours.shape[-2], K_LENGTH)[None])
        expected, _ = apply_rotary_pos_emb(theirs, theirs, cos, sin)
        assert_close(turned[..., evens_then_odds], expected)


def test_rope_equals_roformers_coordinate_by_coordinate() -> None:
    q, k = normal(BATCH, N_HEADS, LENGTH, D_HEAD), normal(BATCH, N_HEADS, LENGTH, D_HEAD, seed=3)
    embedding = RoFormerSinusoidalPositionalEmbedding(MAX_LEN, D_HEAD)
    sines_then_cosines = embedding.create_weight()[None, None, :LENGTH]  # type: ignore[no-untyped-call]
    expected = RoFormerSelfAttention.apply_rotary_position_embeddings(sines_then_cosines, q, k)  # type: ignore[no-untyped-call]
    for actual, theirs in zip(Rope(max_len=MAX_LEN, d_head=D_HEAD).rotate(q, k, NO_TAP), expected, strict=True):
        assert_close(actual, theirs)


def rope_of_transformers(kind: str, *, base: float, **parameters: float) -> Tensor:
    """What transformers multiplies positions with, for texts five times as long as the 23 trained on."""
    config = LlamaConfig(hidden_size=D_MODEL, num_attention_heads=N_HEADS, max_position_embeddings=23)
    config.rope_parameters = {"rope_type": kind, "rope_theta": base, **parameters}
    found, attention_factor = ROPE_INIT_FUNCTIONS[kind](config, seq_len=5 * 23)
    assert attention_factor == 1
    return found


@pytest.mark.parametrize("base", [10_000.0, 500_000.0, 7.0])
def test_stretched_frequencies_equal_transformers(base: float) -> None:
    """Dynamic NTK scaling with factor 1 stretches by the ratio of the lengths, which is what scale is here."""
    plain, linear, ntk = (
        stretched_frequencies(D_HEAD, base=base, scale=5, stretching=kind).float()
        for kind in ("none", "position interpolation", "NTK-aware")
    )
    assert_close(plain, rope_of_transformers("linear", base=base, factor=1.0))
    assert_close(linear, rope_of_transformers("linear", base=base, factor=5.0))
    assert_close(ntk, rope_of_transformers("dynamic", base=base, factor=1.0))


def test_ntk_scaling_leaves_the_fastest_pair_and_slows_the_slowest_by_the_scale() -> None:
    ratio = frequencies(D_HEAD) / stretched_frequencies(D_HEAD, scale=4, stretching="NTK-aware")
    assert ratio[0].item() == 1
    assert ratio[-1].item() == pytest.approx(4)
    assert (ratio.diff() > 0).all()


@pytest.mark.parametrize(
    ("d_head", "base", "scale", "said"),
    [
        (7, 1e4, 2, "even.*7"),
        (0, 1e4, 2, "even.*0"),
        (-2, 1e4, 2, "even.*-2"),
        (8, 1, 2, "base must be larger than 1.*it is 1"),
        (8, -3, 2, "base must be larger than 1.*it is -3"),
        (8, math.inf, 2, "base must be larger than 1"),
        (8, math.nan, 2, "base must be larger than 1"),
        (8, 1e4, 0.5, "scale must be at least 1; it is 0.5"),
        (2, 1e4, 2, "d_head = 2 there is one pair"),
    ],
)
def test_what_makes_no_frequencies_is_refused_in_a_sentence(d_head: int, base: float, scale: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        stretched_frequencies(d_head, base=base, scale=scale, stretching="NTK-aware")


def test_a_head_of_one_pair_turns_by_one_a_position() -> None:
    assert frequencies(2).tolist() == [1]
    assert stretched_frequencies(2, scale=4, stretching="position interpolation").tolist() == [0.25]


def test_rope_scores_depend_on_the_distance_only() -> None:
    q, k = normal(D_HEAD), normal(D_HEAD, seed=3)
    everywhere = (1, 1, LENGTH, D_HEAD)
    rot_q, rot_k = Rope(max_len=MAX_LEN, d_head=D_HEAD).rotate(q.expand(everywhere), k.expand(everywhere), NO_TAP)
    scores = (rot_q @ rot_k.mT)[0, 0]  # (q_len, k_len)
    for distance in range(-LENGTH + 1, LENGTH):
        diagonal = scores.diagonal(distance)
        assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert scores[0].unique().numel() == LENGTH  # and on the distance they do depend


def test_rope_keeps_lengths_and_leaves_position_0_alone() -> None:
    x = normal(BATCH, N_HEADS, LENGTH, D_HEAD)
    assert_close(rotated(x).norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(rotated(x)[:, :, 0], x[:, :, 0])


def test_rotation_angles() -> None:
    angles = rotation_angles(3, 4)
    assert_close(angles, torch.tensor([[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]]))


def test_rotate_pairs_by_a_right_angle() -> None:
    x = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
    right_angles = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])  # cosine and sine
    assert rotate_pairs(x, right_angles).flatten().tolist() == [-2, 1, -4, 3]


# ALiBi.

EIGHT = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
BETWEEN = [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5, 2**-4.5, 2**-5.5, 2**-6.5, 2**-7.5]


@pytest.mark.parametrize(
    ("n_heads", "published"),
    [
        (8, EIGHT),
        (16, [slope for pair in zip(BETWEEN, EIGHT, strict=True) for slope in pair]),
        (12, EIGHT + BETWEEN[:4]),
    ],
)
def test_alibi_slopes_of_the_paper(n_heads: int, published: list[float]) -> None:
    """Section 3 of the paper for 8 and 16 heads, its code for 12: the 8 slopes, then every other one of 16."""
    assert_close(slopes(n_heads), torch.tensor(published))


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 7, 11, 13, 32, 37])
def test_alibi_slopes_equal_blooms(n_heads: int) -> None:
    bloom = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)  # slope · key position
    assert_close(slopes(n_heads), bloom[:, 0, 1])


@pytest.mark.parametrize("n_heads", [1, 3, 8, 12, 37])
def test_alibi_slopes_equal_mpts(n_heads: int) -> None:
    mpt = build_mpt_alibi_tensor(n_heads, 2)  # type: ignore[no-untyped-call]  # slope · (key position − last position)
    assert_close(slopes(n_heads), -mpt[:, 0, 0])


def test_alibi_bias_as_a_picture() -> None:
    bias = Alibi(n_heads=2).bias(3, 5)
    assert bias.shape == (2, 3, 5)
    assert (bias[0] / -slopes(2)[0]).tolist() == [[2, 1, 0, 1, 2], [3, 2, 1, 0, 1], [4, 3, 2, 1, 0]]
    assert_close(bias[1] / slopes(2)[1], bias[0] / slopes(2)[0])


def test_alibi_gives_blooms_causal_pattern() -> None:
    """BLOOM adds slope · j instead of -slope · (i - j): a constant per row apart, which the softmax takes out."""
    scores, mask = normal(N_HEADS, LENGTH, LENGTH), masks.causal(LENGTH)
    bloom = build_alibi_tensor(torch.ones(1, LENGTH), N_HEADS, torch.float32)  # (head, 1, k_len)
    ours = (scores + Alibi(n_heads=N_HEADS).bias(LENGTH, LENGTH)).masked_fill(~mask, -torch.inf)
    theirs = (scores + bloom).masked_fill(~mask, -torch.inf)
    assert_close(ours.softmax(-1), theirs.softmax(-1))


# T5.


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets_equal_transformers(bidirectional: bool) -> None:
    distance = torch.arange(-300, 301)  # query minus key; transformers counts key minus query
    expected = T5Attention._relative_position_bucket(  # type: ignore[no-untyped-call]
        -distance, bidirectional=bidirectional, num_buckets=N_BUCKETS, max_distance=MAX_DISTANCE
    )
    assert torch.equal(buckets(distance, bidirectional=bidirectional), expected)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets_are_within_range_and_every_one_can_occur(bidirectional: bool) -> None:
    found = buckets(torch.arange(-300, 301), bidirectional=bidirectional).unique().tolist()
    unused = {N_BUCKETS // 2} if bidirectional else set()  # "to the right, at distance 0"
    assert set(found) == set(range(N_BUCKETS)) - unused


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_bias_equals_transformers(bidirectional: bool) -> None:
    positions = lively(T5Relative(n_heads=N_HEADS, bidirectional=bidirectional))
    reference: Any = T5Attention(
        T5Config(num_heads=N_HEADS, is_decoder=not bidirectional), has_relative_attention_bias=True, layer_idx=0
    )
    reference.relative_attention_bias.weight = positions.table
    expected = reference.compute_bias(211, 211)[0]
    assert torch.equal(positions.bias(211, 211), expected)
    assert torch.equal(positions.bias(LENGTH, 211), expected[:, -LENGTH:])
