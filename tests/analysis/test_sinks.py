"""The first token as a sink: shares and lengths by hand, and a value removed by torch's hooks."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.analysis.test_why import attention_at, made
from tests.cases import each
from tests.model.helpers import inputs_of, lively_model
from tests.model.helpers import record as run
from tests.model.sizes import D_HEAD, N_HEADS
from tests.records import trace_of
from tests.traces import decoder
from tfmviz.analysis.why.sinks import sinks, without_value
from tfmviz.model.weights import weights_of
from tfmviz.record.trace import Trace, kind_of


@each("name", ["pre", "post", "encoder", "rope translator", "post translator"])
def test_shares_and_lengths_are_those_counted_by_hand(name: str) -> None:
    _, trace, weights = made(name)
    for kind in dict.fromkeys(map(kind_of, trace.layers)):
        found = sinks(trace, weights, kind)
        for (row, layer), head in product(enumerate(found.layers), range(N_HEADS)):
            pattern, v = trace[f"{layer}.pattern"], trace[f"{layer}.v"]
            first_query = 1 if kind == "decoder.self_attn" else 0  # a decoder's first token sees itself alone
            assert found.shares[row, head] == pytest.approx(pattern[head, first_query:, 0].mean(), rel=1e-5)
            written = v[head * len(v) // N_HEADS] @ weights.attention(layer).W_O[head]
            first, *others = np.linalg.norm(written, axis=-1)
            assert found.lengths[row, head] == pytest.approx(first / np.mean(others), rel=1e-4)


def test_in_every_head_no_layer_has_a_value_of_the_first_token() -> None:
    trace = decoder(["one"], layers=1)
    values = dict(trace.values) | {"decoder.0.self_attn.v": np.ones((N_HEADS, 1, D_HEAD), dtype=np.float32)}
    found = sinks(Trace(target=trace.target, values=values), made("pre")[2], "decoder.self_attn")
    assert np.isnan([found.shares, found.lengths]).all()
    module, trace, weights = made("pre")
    without = run(module, *inputs_of("decoder-only", batch=1), edits=without_value(weights, trace.layers))
    for layer in trace.layers:
        assert not without[f"{layer}.v"][0, :, 0].any()
        assert without[f"{layer}.v"][0, :, 1:].any()


@each("name", ["pre", "post translator"])
def test_without_its_value_the_first_token_is_looked_at_all_the_same(name: str) -> None:
    module, trace, weights = made(name)
    layer, head = "decoder.1.self_attn", 1
    _, attention, _ = attention_at(module, layer)
    kv_head = head // attention.n_groups

    def hook(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        output = output.clone()
        output[0, 0, kv_head * D_HEAD : (kv_head + 1) * D_HEAD] = 0
        return output

    inputs = inputs_of(module.config.architecture, batch=1)
    handle = attention.W_V.register_forward_hook(hook)
    theirs = run(module, *inputs)
    handle.remove()
    ours = run(module, *inputs, edits=without_value(weights, (layer,), head))
    torch.testing.assert_close(ours["logits"], theirs["logits"])
    torch.testing.assert_close(ours[f"{layer}.pattern"][0], torch.tensor(trace[f"{layer}.pattern"]))
    assert (ours["logits"][0] - torch.tensor(trace["logits"])).abs().max() > 1e-3


def test_what_a_learned_sink_takes_is_unused() -> None:
    """In numpy: the share of exp(s) in exp(s) + Σ exp(score); without a sink nothing is."""
    module = lively_model(sink="present").requires_grad_(False)
    logits = [value for name, value in module.named_parameters() if name.endswith("self_attn.sink")]
    for number, sink in enumerate(logits):
        sink.copy_(torch.linspace(-1, 1, N_HEADS) + number)
    trace, weights = trace_of(module), weights_of(module)
    found = sinks(trace, weights, "decoder.self_attn")
    for layer, unused in zip(found.layers, found.unused, strict=True):
        of_layer = weights.attention(layer).sink
        assert of_layer is not None
        powers = np.exp(trace[f"{layer}.scores"].astype(np.float64)).sum(axis=-1)  # (head, query)
        taken = np.exp(of_layer.astype(np.float64))[:, None]
        np.testing.assert_allclose(unused, (taken / (taken + powers)).mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(sinks(made("pre")[1], made("pre")[2], "decoder.self_attn").unused, 0, atol=1e-6)
