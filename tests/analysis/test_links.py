"""Which head links two words, against plain loops over the torch modules' own weights."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.model.helpers import D_HEAD, D_MODEL, N_HEADS, N_LAYERS, lively_model
from tests.records import traced
from tfmviz.analysis.links import links
from tfmviz.model.transformer import Transformer
from tfmviz.model.weights import weights_of
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import Norm

MODELS: dict[str, tuple[dict[str, Any], str]] = {
    "decoder": ({}, "decoder.self_attn"),
    "grouped": ({"n_kv_heads": 1}, "decoder.self_attn"),
    "post-norm": ({"norm_position": "post"}, "decoder.self_attn"),
    "encoder": ({"architecture": "encoder-only", "positions": "alibi"}, "encoder.self_attn"),
    "source": ({"architecture": "encoder-decoder"}, "encoder.self_attn"),
    "answer": ({"architecture": "encoder-decoder"}, "decoder.self_attn"),
    "crossing": ({"architecture": "encoder-decoder"}, "decoder.cross_attn"),
}


@pytest.mark.parametrize("name", MODELS)
def test_weights_and_effects_are_those_of_a_plain_loop(name: str) -> None:
    changes, kind = MODELS[name]
    model, trace = lively_model(**changes), traced(**changes)
    query, key = 5, 3
    found = links(trace, weights_of(model), kind, query, key)
    stack, part = kind.split(".")
    assert found.layers == tuple(f"{stack}.{n}.{part}" for n in range(N_LAYERS))
    for n, layer in enumerate(found.layers):
        for head in range(N_HEADS):
            weight, effect = slow(model, trace, layer, head, query=query, key=key)
            assert found.weights[n, head] == pytest.approx(weight, rel=1e-5)
            assert found.effects[n, head] == pytest.approx(effect, rel=1e-4)


def slow(model: Transformer, trace: Trace, layer: str, head: int, *, query: int, key: int) -> tuple[float, float]:
    """One look, number by number; W_O as torch keeps it: (d_model, head and d_head)."""
    W_O: Array = model.state_dict()[f"{layer.replace('.', '.blocks.', 1)}.W_O.weight"].numpy()
    values = trace[f"{layer}.v"]
    v = values[head * len(values) // N_HEADS][key]
    weight = float(trace[f"{layer}.pattern"][head][query][key])
    written = [weight * sum(W_O[n, head * D_HEAD + m] * v[m] for m in range(D_HEAD)) for n in range(D_MODEL)]
    block, part = layer.rsplit(".", 1)
    stream = trace[f"{block}.{'resid_pre' if part == 'self_attn' else 'resid_mid'}"][query]
    return weight, math.sqrt(sum(x * x for x in written)) / math.sqrt(sum(float(x) ** 2 for x in stream))


def test_a_look_that_the_mask_forbids_has_neither_weight_nor_effect() -> None:
    found = links(traced(), weights_of(lively_model()), "decoder.self_attn", 2, 5)
    assert np.isnan(found.weights).all()
    assert np.isnan(found.effects).all()


NORM = Norm(kind="rms", gain=np.linspace(0.5, 2, D_MODEL), bias=np.zeros(D_MODEL), eps=1e-6)


@pytest.mark.parametrize("norm", [None, NORM])
def test_the_only_look_of_a_query_adds_all_that_its_head_adds(norm: Norm | None) -> None:
    """With one key to look at, also where a norm follows W_O."""
    trace = traced()
    weights = weights_of(lively_model())
    stack = weights.stacks["decoder"]
    attention = {layer: replace(found, out_norm=norm) for layer, found in stack.attention.items()}
    weights = replace(weights, stacks={"decoder": replace(stack, attention=attention)})
    found = links(trace, weights, "decoder.self_attn", 0, 0)
    assert found.weights == pytest.approx(1)
    for n, layer in enumerate(found.layers):
        added = weights.attention(layer).writes(trace[f"{layer}.z"])[:, 0]
        expected = np.linalg.norm(added, axis=-1) / np.linalg.norm(trace[f"decoder.{n}.resid_pre"][0])
        assert found.effects[n] == pytest.approx(expected, rel=1e-4)
