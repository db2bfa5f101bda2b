"""Which head links two words, against the record's own patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.each import each
from tests.model.helpers import N_HEADS, N_LAYERS
from tests.records import traced
from tfmviz.analysis.links import links

MODELS: dict[str, tuple[dict[str, Any], str]] = {
    "decoder": ({}, "decoder.self_attn"),
    "grouped": ({"n_kv_heads": 1}, "decoder.self_attn"),
    "encoder": ({"architecture": "encoder-only", "positions": "alibi"}, "encoder.self_attn"),
    "source": ({"architecture": "encoder-decoder"}, "encoder.self_attn"),
    "crossing": ({"architecture": "encoder-decoder"}, "decoder.cross_attn"),
}


@each("name", MODELS)
def test_weights_are_those_of_every_head_of_the_kind(name: str) -> None:
    changes, kind = MODELS[name]
    trace = traced(**changes)
    query, key = 5, 3
    found = links(trace, kind, query, key)
    stack, part = kind.split(".")
    assert found.shape == (N_LAYERS, N_HEADS)
    for n in range(N_LAYERS):
        for head in range(N_HEADS):
            assert found[n, head] == trace[f"{stack}.{n}.{part}.pattern"][head][query][key]


def test_a_look_that_the_mask_forbids_has_no_weight() -> None:
    assert np.isnan(links(traced(), "decoder.self_attn", 2, 5)).all()
