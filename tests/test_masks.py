"""Masks, as pictures: rows are queries, columns are keys, 1 = may attend."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.each import each
from tfmviz import masks
from tfmviz.model.transformer import full_mask


def picture(mask: Tensor) -> list[str]:
    """Each row of a (q_len, k_len) mask as a word of 0s and 1s."""
    assert mask.dtype == torch.bool
    return ["".join(str(int(allowed)) for allowed in row) for row in mask]


def test_pictures() -> None:
    assert picture(masks.full(2, 3)) == ["111", "111"]
    assert picture(masks.causal(5)) == ["10000", "11000", "11100", "11110", "11111"]
    padding = masks.padding(torch.tensor([3, 2, 5]), 5)
    assert padding.shape == (3, 1, 1, 5)
    assert picture(padding[:, 0, 0]) == ["11100", "11000", "11111"]


@each("length", [1, 2, 7])
def test_causal_allows_the_query_itself_and_what_came_before(length: int) -> None:
    assert masks.causal(length).tolist() == [[j <= i for j in range(length)] for i in range(length)]


def test_a_window_keeps_the_last_keys_of_each_query() -> None:
    assert picture(masks.causal(5, window=2)) == ["10000", "11000", "01100", "00110", "00011"]
    assert picture(masks.causal(2, past=3, window=2)) == ["00110", "00011"]
    assert masks.causal(5, window=9).equal(masks.causal(5))


def test_padding_and_causal() -> None:
    mask = masks.causal(4) & masks.padding(torch.tensor([3, 2]), 4)
    assert mask.shape == (2, 1, 4, 4)
    assert list(map(picture, mask[:, 0])) == [["1000", "1100", "1110", "1110"], ["1000", "1100", "1100", "1100"]]


def test_full_mask_of_sequences_of_different_length() -> None:
    q_ids, k_ids = torch.zeros(2, 2, dtype=torch.long), torch.zeros(2, 3, dtype=torch.long)
    assert picture(full_mask(q_ids, k_ids, None)) == ["111", "111"]
    mask = full_mask(q_ids, k_ids, torch.tensor([3, 1]))
    assert mask.shape == (2, 1, 2, 3)
    assert list(map(picture, mask[:, 0])) == [["111", "111"], ["100", "100"]]
