"""The layers whose times are measured are what they are called, and the measurement ends."""

import pytest
import torch

from tests.model.helpers import assert_close, normal
from tfmviz.model import layer_times
from tfmviz.model.layer_times import KERNEL, N_HEADS, WIDTH, Convolution, SelfAttention

LENGTH = 7


def test_a_convolution_sees_its_token_and_the_two_before_it() -> None:
    layer, x = Convolution(), normal(1, LENGTH, WIDTH)
    W, b = layer.conv.weight, layer.conv.bias
    assert b is not None
    before = torch.cat((torch.zeros(KERNEL - 1, WIDTH), x[0]))
    expected = torch.stack([torch.einsum("oik,ki->o", W, before[t : t + KERNEL]) + b for t in range(LENGTH)])
    assert_close(layer(x)[0], expected)


def test_self_attention_is_causal_softmax() -> None:
    layer, x = SelfAttention(), normal(1, LENGTH, WIDTH)
    q, k, v = (part.unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for part in layer.W_QKV(x[0]).chunk(3, dim=-1))
    scores = q @ k.mT / (WIDTH / N_HEADS) ** 0.5
    pattern = scores.masked_fill(~torch.ones(LENGTH, LENGTH).tril().bool(), -torch.inf).softmax(dim=-1)
    assert_close(layer(x)[0], layer.W_O((pattern @ v).transpose(0, 1).flatten(1)))


def test_every_kind_is_measured_at_every_length_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_times, "LENGTHS", (3, 5))
    found = list(layer_times.measurements())
    kinds = ("recurrent", "convolution", "attention")
    assert [(record["kind"], record["length"]) for record in found] == [(kind, n) for n in (3, 5) for kind in kinds]
    assert [record["share"] for record in found] == [0.5] * 3 + [1.0] * 3
    assert all(record["reading"] > 0 and record["training"] > 0 for record in found)
    assert list(layer_times.measurements(seconds=-1.0)) == []
