"""Learned positions: a table, and no position past its end."""

import pytest
import torch

from tests.cases import each
from tests.model.helpers import lively, normal
from tests.model.sizes import BATCH, D_MODEL, LENGTH, MAX_LEN
from tfmviz.positions.learned import Learned
from tfmviz.record.tap import NO_TAP, Recorder


def test_learned_positions_are_added_to_the_embeddings() -> None:
    positions, x = lively(Learned(max_len=MAX_LEN, d_model=D_MODEL)), normal(BATCH, LENGTH, D_MODEL)
    assert torch.equal(positions.embed(x, recorder := Recorder()), x + positions.table[:LENGTH])
    assert torch.equal(recorder.values["pos_embed"][0], positions.table[:LENGTH])


@each("max_len", [LENGTH, LENGTH - 1, 1])
def test_learned_positions_serve_texts_up_to_max_len_and_name_both_numbers_past_it(max_len: int) -> None:
    positions = Learned(max_len=max_len, d_model=D_MODEL)
    assert positions.embed(normal(BATCH, max_len, D_MODEL), NO_TAP).shape == (BATCH, max_len, D_MODEL)
    with pytest.raises(ValueError, match=rf"\b{max_len}\b.*\b{LENGTH + 1}\b"):
        positions.embed(normal(BATCH, LENGTH + 1, D_MODEL), NO_TAP)


def test_the_first_learned_positions_are_rows_of_the_table() -> None:
    positions = lively(Learned(max_len=5, d_model=D_MODEL))
    assert torch.equal(positions.first(3), positions.table[:3])
    with pytest.raises(ValueError, match=r"5 learned.*6"):
        positions.first(6)
