"""Masks, as pictures: rows are queries, columns are keys, 1 = may attend; and what holds of them at any length."""

import re

import torch
from torch import Tensor

from tests.cases import each
from tests.model.helpers import lively_model, record, token_ids
from tests.model.sizes import LENGTH, N_HEADS, N_LAYERS
from tfmviz import masks
from tfmviz.model.transformer import full_mask
from tfmviz.record.edits import SetMask


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


def test_windows_padding_and_full_masks_are_as_written_out() -> None:
    assert picture(masks.near(5, 5, 2)) == ["11000", "11100", "01110", "00111", "00011"]
    assert picture(masks.near(5, 5, 2) & masks.causal(5)) == ["10000", "11000", "01100", "00110", "00011"]
    assert picture(masks.near(2, 5, 2)) == ["00111", "00011"]
    assert masks.near(5, 5, 9).all()
    mask = masks.causal(4) & masks.padding(torch.tensor([3, 2]), 4)
    assert mask.shape == (2, 1, 4, 4)
    assert list(map(picture, mask[:, 0])) == [["1000", "1100", "1110", "1110"], ["1000", "1100", "1100", "1100"]]
    q_ids, k_ids = torch.zeros(2, 2, dtype=torch.long), torch.zeros(2, 3, dtype=torch.long)
    assert picture(full_mask(q_ids, k_ids, None)) == ["111", "111"]
    mask = full_mask(q_ids, k_ids, torch.tensor([3, 1]))
    assert mask.shape == (2, 1, 2, 3)
    assert list(map(picture, mask[:, 0])) == [["111", "111"], ["100", "100"]]


DRAWN = {
    "strictly_causal": masks.strictly_causal(3),
    "prefix": masks.prefix(4, 2),
    "window": masks.window(4, 1),
    "dilated": masks.dilated(5, 1, 2),
    "blocks": masks.blocks(4, 2),
    "global_tokens": masks.global_tokens(4, 1),
    "random": masks.random(4, 1, 0),
    "bigbird": masks.bigbird(6, 1, 1, 1, 0),
}


@each("name", list(DRAWN))
def test_a_mask_is_what_its_docstring_draws(name: str) -> None:
    drawn = re.findall(r"^ +([01](?: [01])+)$", getattr(masks, name).__doc__, flags=re.MULTILINE)
    assert [row.replace(" ", "") for row in drawn] == picture(DRAWN[name])


@each("length", [1, 2, 7, 31])
@each("n_random", [0, 1, 3, 50])
def test_random_gives_every_query_itself_and_as_many_others_as_there_are(length: int, n_random: int) -> None:
    mask = masks.random(length, n_random, seed=5)
    assert mask.diagonal().all()
    assert (mask.sum(dim=-1) == 1 + min(n_random, length - 1)).all()
    assert mask.equal(masks.random(length, n_random, seed=5))
    if length > 7 and 0 < n_random < length - 1:
        assert not mask.equal(masks.random(length, n_random, seed=6))


@each("length", [1, 2, 7])
def test_bigbird_is_window_global_and_random(length: int) -> None:
    together = masks.window(length, 1) | masks.global_tokens(length, 1) | masks.random(length, 2, 3)
    assert masks.bigbird(length, 1, 1, 2, 3).equal(together)


def test_a_mask_for_some_heads_leaves_the_others_alone() -> None:
    model, ids = lively_model(), token_ids(LENGTH)
    plain = record(model, ids)
    own = tuple(tuple(row) for row in masks.window(LENGTH, 0).tolist())
    layer, last = "decoder.0.self_attn", f"decoder.{N_LAYERS - 1}.self_attn"
    changed = record(model, ids, edits=[SetMask(layer=layer, mask=own, heads=(False, True, False))])
    assert changed[f"{layer}.mask"].shape == (N_HEADS, LENGTH, LENGTH)
    assert torch.equal(changed[f"{layer}.pattern"][:, [0, 2]], plain[f"{layer}.pattern"][:, [0, 2]])
    assert torch.equal(changed[f"{layer}.pattern"][:, 1], torch.eye(LENGTH).expand(2, -1, -1))
    assert torch.equal(changed[f"{last}.mask"], plain[f"{last}.mask"])
