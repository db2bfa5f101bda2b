"""Pairs differ in one thing; digits are changed as they are drawn on the page."""

import shlex

import pytest
import torch

from scripts.train_digits import changed
from scripts.train_pairs import PAIRS, recipe
from tfmviz.training.options import parse_arguments

DIFFER = {
    "residuals": {"residual"},
    "spaces": {"architecture", "heads", "embedding_scale"},  # which a state space has not
    "duplicates": {"data"},
}


def test_the_two_of_a_pair_differ_in_one_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PAIRS.keys() == DIFFER.keys()
    for pair, names in PAIRS.items():
        settings = []
        for name in names:
            monkeypatch.setattr("sys.argv", ["", *shlex.split(recipe(pair, name).train), "--out", "x"])
            settings.append(vars(parse_arguments()))
        assert {key for key in settings[0] if settings[0][key] != settings[1][key]} == DIFFER[pair]


def test_a_digit_is_moved_by_up_to_a_cell_and_one_in_three_is_black_and_white() -> None:
    read = torch.zeros(300, 8, 8)
    read[:, 3, 4] = 0.7
    generator = torch.Generator().manual_seed(1)
    found = changed(read, generator)
    places = found.flatten(1).argmax(dim=1)
    assert set(places.tolist()) == {8 * row + column for row in (2, 3, 4) for column in (3, 4, 5)}
    assert found.unique().tolist() == pytest.approx([0.0, 0.7, 1.0])
    assert 70 < (found == 1).any(dim=2).any(dim=1).sum() < 130
