"""The recurrent layer: its equations in numpy, torch's own, and its record; the layers whose times are measured."""

import pytest
import torch

from tests.model.helpers import assert_close, lively, normal, record
from tests.model.sizes import BATCH, LENGTH
from tfmviz.model import layer_times
from tfmviz.model.layer_times import KERNEL, N_HEADS, WIDTH, Convolution, SelfAttention
from tfmviz.model.recurrent import SITES, RecurrentLayer
from tfmviz.record.edits import Edit, Patch, Scale
from tfmviz.record.tap import Fork, Recorder

D_IN, D_HIDDEN = 5, 3


def layer() -> RecurrentLayer:
    return lively(RecurrentLayer(D_IN, D_HIDDEN))


def test_reading_on_is_reading_the_whole_text_and_the_last_reading_is_kept() -> None:
    gru, x = layer(), normal(BATCH, LENGTH, D_IN)
    whole = gru(x)
    first = gru(x[:, :3])
    assert_close(gru(x[:, 3:], before=first[:, -1]), whole[:, 3:])
    assert_close(gru.step(x[:, 3], first[:, -1]), whole[:, 3])
    recorder = Recorder()
    with torch.no_grad():
        for length in (3, LENGTH):
            gru(x[:, :length], tap=recorder)
    assert torch.equal(recorder.values["hidden"], record(gru, x)["hidden"])


def test_a_patched_state_is_the_state_from_which_the_text_is_read_on() -> None:
    gru, x, vector = layer(), normal(1, LENGTH, D_IN), (0.5, -0.25, 0.125)
    before, after = record(gru, x), record(gru, x, edits=[Patch(site="hidden", vector=vector, position=2)])
    assert torch.equal(after["hidden"][:, :2], before["hidden"][:, :2])
    assert after["hidden"][0, 2].tolist() == list(vector)
    assert_close(after["hidden"][:, 3:], gru(x[:, 3:], before=torch.tensor([vector])))
    for site in SITES[:-1]:
        assert torch.equal(after[site][:, :3], before[site][:, :3])
        assert not torch.allclose(after[site][:, 3], before[site][:, 3])


def test_an_edit_of_a_gate_acts_at_every_step_and_no_position_is_invented() -> None:
    """z = 0: the state is the candidate, and nothing else of the past remains in it."""
    values = record(layer(), normal(1, LENGTH, D_IN), edits=[Scale(site="update", factor=0)])
    assert torch.equal(values["hidden"], values["candidate"])
    edit = Patch(site="hidden", vector=(0.0,) * D_HIDDEN, position=LENGTH)
    with pytest.raises(ValueError, match=rf"positions 0 to {LENGTH - 1}; position {LENGTH} does not exist"):
        record(layer(), normal(1, LENGTH, D_IN), edits=[edit])


def test_several_sets_of_edits_in_one_pass_are_the_same_as_one_after_the_other() -> None:
    gru, x = layer(), normal(1, LENGTH, D_IN)
    edits: list[Edit] = [Patch(site="hidden", vector=(1.0, 0.0, -1.0), position=1), Scale(site="reset", factor=0.5)]
    fork = Fork([[edit] for edit in edits])
    together = gru(x, tap=fork)
    fork.check()
    for row, edit in zip(together, edits, strict=True):
        assert_close(row, record(gru, x, edits=[edit])["hidden"][0])


READ = 7


def test_a_convolution_sees_three_tokens_and_self_attention_is_causal() -> None:
    layer, x = Convolution(), normal(1, READ, WIDTH)
    W, b = layer.conv.weight, layer.conv.bias
    assert b is not None
    before = torch.cat((torch.zeros(KERNEL - 1, WIDTH), x[0]))
    expected = torch.stack([torch.einsum("oik,ki->o", W, before[t : t + KERNEL]) + b for t in range(READ)])
    assert_close(layer(x)[0], expected)
    attention = SelfAttention()
    q, k, v = (part.unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for part in attention.W_QKV(x[0]).chunk(3, dim=-1))
    scores = q @ k.mT / (WIDTH / N_HEADS) ** 0.5
    pattern = scores.masked_fill(~torch.ones(READ, READ).tril().bool(), -torch.inf).softmax(dim=-1)
    assert_close(attention(x)[0], attention.W_O((pattern @ v).transpose(0, 1).flatten(1)))


def test_every_kind_is_measured_at_every_length_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_times, "LENGTHS", (3, 5))
    found = list(layer_times.measurements())
    kinds = ("recurrent", "convolution", "attention")
    assert [(record["kind"], record["length"]) for record in found] == [(kind, n) for n in (3, 5) for kind in kinds]
    assert [record["share"] for record in found] == [0.5] * 3 + [1.0] * 3
    assert all(record["reading"] > 0 and record["training"] > 0 for record in found)
    assert list(layer_times.measurements(seconds=-1.0)) == []
