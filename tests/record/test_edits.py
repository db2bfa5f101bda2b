"""The record, a dictionary of read-only arrays; edits, each of which is carried out by the tap."""

from dataclasses import is_dataclass, replace
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.cases import each
from tests.model.helpers import normal
from tests.model.sizes import D_HEAD, LENGTH, N_HEADS
from tests.records import encoding, without
from tfmviz import zoo
from tfmviz.record import edits
from tfmviz.record.edits import AblateHead, Edit, Patch, Scale, SetMask, treats_tokens_alike
from tfmviz.record.tap import apply
from tfmviz.record.trace import NotCaptured, Trace

KINDS = get_args(Edit)
LAYER = "decoder.1.self_attn"
Z = f"{LAYER}.z"
FIRST_ONLY = tuple(tuple(key == 0 for key in range(LENGTH)) for _ in range(LENGTH))
VECTOR = (0.5,) * D_HEAD

VALUE = normal(1, N_HEADS, LENGTH, D_HEAD)

EXAMPLES: tuple[tuple[Edit, Tensor], ...] = (
    (AblateHead(layer=LAYER, head=1), VALUE),
    (SetMask(layer=LAYER, mask=FIRST_ONLY), torch.ones(LENGTH, LENGTH, dtype=torch.bool)),
    *((Scale(site=Z, factor=0.5), VALUE), (Patch(site=Z, vector=VECTOR), VALUE)),
)
"""One edit of each kind, and a value at its site."""


def test_every_kind_of_edit_is_named_in_edit() -> None:
    written = {kind for kind in vars(edits).values() if isinstance(kind, type) and is_dataclass(kind)}
    assert written == set(KINDS) == {type(edit) for edit, _ in EXAMPLES}, "add the new kind to `Edit` in edits.py"


@each("edit, value", [*EXAMPLES, (Patch(site=Z, vector=VECTOR, position=2), VALUE)])
def test_the_tap_carries_out_every_kind_of_edit_and_leaves_what_it_is_given_alone(edit: Edit, value: Tensor) -> None:
    before = value.clone()
    changed = apply(edit, value)
    assert (changed.shape, changed.dtype) == (value.shape, value.dtype)
    assert not torch.equal(changed, value)
    assert torch.equal(value, before)
    assert edit.site in (Z, f"{LAYER}.mask")
    assert hash(edit) == hash(replace(edit))


@each("edit, value", EXAMPLES)
def test_an_edit_that_treats_tokens_alike_does_the_same_to_a_text_and_to_its_tokens_one_by_one(
    edit: Edit, value: Tensor
) -> None:
    if treats_tokens_alike(edit):
        one_by_one = [apply(edit, value[..., [position], :]) for position in range(LENGTH)]
        assert torch.equal(apply(edit, value), torch.cat(one_by_one, dim=-2))
    else:
        assert edit.site.endswith(".mask")


def test_writing_refuses_edits_for_single_tokens() -> None:
    """A text is written token by token: position 0 would be every new token, and the mask would fit one of them."""
    english, alike = zoo.load("tiny-english"), Scale(site="decoder.0.mlp.out", factor=0.5)
    patches: list[Edit] = [
        Patch(site="decoder.0.resid_pre", vector=(0.0,) * 256, position=position) for position in (0, 1)
    ]
    for edit in (*patches, SetMask(layer="decoder.0.self_attn", mask=((True,),))):
        said = rf"{type(edit).__name__} at {edit.site} is for single tokens.*mask"
        with pytest.raises(ValueError, match=said):
            zoo.writing.generate(english, "It was", edits=(alike, edit), max_new_tokens=1)
    assert zoo.writing.generate(english, "It was", edits=(alike,), max_new_tokens=1).ids


TARGET = encoding(range(3))
SITES = ("embed", "decoder.0.self_attn.pattern", "decoder.0.mlp.out", "decoder.1.self_attn.pattern", "logits")
TRACE = Trace(target=TARGET, values={site: np.array([i]) for i, site in enumerate(SITES)})


def test_a_trace_is_a_dictionary_in_the_order_of_computation_that_nobody_changes() -> None:
    assert tuple(TRACE) == TRACE.sites == SITES
    assert [int(TRACE[site][0]) for site in TRACE] == list(range(len(SITES)))
    assert "logits" in TRACE
    assert "scores" not in TRACE
    assert TRACE.tokens == ("t0", "t1", "t2")
    with pytest.raises(NotCaptured, match=r"decoder\.0\.mlp\.pre") as caught:
        TRACE["decoder.0.mlp.pre"]
    assert caught.value.site == "decoder.0.mlp.pre"
    assert all(site in str(caught.value) for site in SITES)
    with pytest.raises(NotCaptured, match="There are: none"):
        Trace(target=TARGET, values={})["logits"]
    assert TRACE.layers == ("decoder.0.self_attn", "decoder.1.self_attn")
    assert without(TRACE, "decoder.0.self_attn.pattern").layers == ("decoder.1.self_attn",)
