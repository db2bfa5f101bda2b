"""What is added to embeddings: sinusoids against published tables, other libraries and laws; learned positions."""

import math
from typing import Any

import pytest
import torch
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from tests.cases import each
from tests.model.helpers import assert_close, lively, normal
from tests.model.sizes import BATCH, D_MODEL, LENGTH, MAX_LEN
from tfmviz.positions.learned import Learned
from tfmviz.positions.sinusoidal import MAX_POSITION, Sinusoidal, sines_first, sinusoids, sinusoids_at, wavelengths
from tfmviz.record.tap import Recorder


def test_sinusoids_are_those_of_hugging_faces_marian_up_to_the_order_of_columns() -> None:
    """It stores [all sines | all cosines]."""
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


@each("base", [2.0, 10_000.0, 1_000_000.0])
def test_sinusoids_come_round_after_a_wavelength(base: float) -> None:
    table, lengths = sinusoids(23, 6, base=base).double(), wavelengths(6, base=base)
    angle = 2 * math.pi * torch.arange(23)[:, None] / lengths
    assert_close(table[:, 0::2], angle.sin())
    assert_close(table[:, 1::2], angle.cos())


def test_any_rows_of_the_table_can_be_asked_for() -> None:
    assert torch.equal(sinusoids_at(torch.tensor([7, 0, 3]), 6), sinusoids(8, 6)[[7, 0, 3]])
    assert sinusoids_at(torch.tensor([MAX_POSITION]), 2).isfinite().all()
    assert sinusoids(0, 4).shape == (0, 4)


REFUSED = (
    *(([0], 7, 1e4, "even.*7"), ([0], 0, 1e4, "even.*0"), ([0], -2, 1e4, "even.*-2")),
    *(([0], 4, 1.0, "more than 1.*is 1"), ([0], 4, -3.0, "more than 1.*-3"), ([0], 4, math.nan, "more than 1.*nan")),
    *(([2, -3], 4, 1e4, "from 0.*-3"), ([MAX_POSITION + 1], 4, 1e4, "16,777,217")),
)


@each("positions, d, base, said", REFUSED)
def test_sinusoids_that_make_no_sense_are_refused_with_a_reason(
    positions: list[int], d: int, base: float, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        sinusoids_at(torch.tensor(positions), d, base=base)


@each("max_len", [MAX_LEN, 5, 1])
def test_sinusoids_are_added_to_embeddings_of_any_length(max_len: int) -> None:
    x, recorder = normal(BATCH, LENGTH, D_MODEL), Recorder()
    embedded = Sinusoidal(max_len=max_len, d_model=D_MODEL).embed(x, recorder)
    assert_close(embedded - x, sinusoids(LENGTH, D_MODEL).expand_as(x))
    assert torch.equal(recorder.values["pos_embed"][0], sinusoids(LENGTH, D_MODEL))


def test_learned_positions_are_added_to_the_embeddings() -> None:
    positions, x = lively(Learned(max_len=MAX_LEN, d_model=D_MODEL)), normal(BATCH, LENGTH, D_MODEL)
    assert torch.equal(positions.embed(x, recorder := Recorder()), x + positions.table[:LENGTH])
    assert torch.equal(recorder.values["pos_embed"][0], positions.table[:LENGTH])
    assert torch.equal(positions.first(3), positions.table[:3])
    with pytest.raises(ValueError, match=rf"{MAX_LEN} learned.*{MAX_LEN + 1}"):
        positions.first(MAX_LEN + 1)
