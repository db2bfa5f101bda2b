"""The record: a dictionary of read-only arrays, with the tokens that its axes stand for."""

from dataclasses import FrozenInstanceError
from typing import get_args

import numpy as np
import pytest

from tests.cases import each
from tests.model.helpers import config
from tests.records import encoding, traced, without
from tfmviz.record.facts import Architecture
from tfmviz.record.trace import NotCaptured, Trace

SOURCE, TARGET = encoding(range(5)), encoding(range(3))
SITES = ("embed", "decoder.0.self_attn.pattern", "decoder.0.mlp.out", "decoder.1.self_attn.pattern", "logits")
TRACE = Trace(target=TARGET, values={site: np.array([i]) for i, site in enumerate(SITES)})


def test_a_trace_reads_like_a_dictionary_in_the_order_of_computation() -> None:
    assert tuple(TRACE) == TRACE.sites == SITES
    assert [int(TRACE[site][0]) for site in TRACE] == list(range(len(SITES)))
    assert "logits" in TRACE
    assert "scores" not in TRACE
    assert TRACE.tokens == ("t0", "t1", "t2")


def test_a_missing_site_is_named_together_with_those_there_are() -> None:
    with pytest.raises(NotCaptured, match=r"decoder\.0\.mlp\.pre") as caught:
        TRACE["decoder.0.mlp.pre"]
    assert caught.value.site == "decoder.0.mlp.pre"
    assert isinstance(caught.value, LookupError)
    assert all(site in str(caught.value) for site in SITES)
    with pytest.raises(NotCaptured, match="There are: none"):
        Trace(target=TARGET, values={})["logits"]


def test_a_trace_cannot_be_changed_and_its_layers_are_those_with_a_pattern() -> None:
    with pytest.raises(FrozenInstanceError):
        TRACE.target = SOURCE  # type: ignore[misc]
    assert TRACE.layers == ("decoder.0.self_attn", "decoder.1.self_attn")
    assert without(TRACE, "decoder.0.self_attn.pattern").layers == ("decoder.1.self_attn",)


def test_axes_are_the_tokens_of_queries_and_keys() -> None:
    alone, pair = (Trace(target=TARGET, source=source, values={}) for source in (None, SOURCE))
    for layer in ("decoder.1.self_attn", "encoder.1.self_attn"):
        assert alone.axes(layer) == (TARGET, TARGET), layer
    assert pair.axes("encoder.1.self_attn") == (SOURCE, SOURCE)
    assert pair.axes("decoder.1.self_attn") == (TARGET, TARGET)
    assert pair.axes("decoder.1.cross_attn") == (TARGET, SOURCE)


@each("architecture", get_args(Architecture))
def test_axes_and_layers_fit_what_a_model_computes(architecture: Architecture) -> None:
    trace = traced(architecture)
    assert trace.layers == config(architecture=architecture).layers
    for layer in trace.layers:
        q, k = trace.axes(layer)
        assert trace[f"{layer}.pattern"].shape[1:] == trace[f"{layer}.mask"].shape == (len(q), len(k))
