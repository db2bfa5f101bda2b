"""Recurrent labellers have a list of their own, and leave a record like all models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.zoo.models import MAX_LEN, TEXT
from tfmviz import zoo
from tfmviz.record.edits import Scale
from tfmviz.record.trace import NotCaptured


def test_a_trace_holds_what_a_plain_forward_pass_computes(mixed: Path) -> None:
    model = zoo.load("label-both", mixed, kind=zoo.RecurrentLabeller)
    trace = model.trace(TEXT)
    expected = model.module(torch.tensor([trace.target.ids]))[0].numpy()
    np.testing.assert_allclose(trace["logits"], expected, rtol=1e-4, atol=1e-5)
    assert trace["rnn.1.backward.hidden"].shape == (len(trace.tokens), 11)
    assert not trace["rnn.1.backward.hidden"].flags.writeable
    np.testing.assert_array_equal(model.trace(trace.target.ids)["logits"], trace["logits"])
    off = model.trace(TEXT, edits=(Scale(site="rnn.0.backward.hidden", factor=0),), sites=("rnn.0.*.hidden", "logits"))
    assert (off["rnn.0.backward.hidden"] == 0).all()
    assert (off["rnn.0.forward.hidden"] != 0).any()
    assert not np.allclose(off["logits"], trace["logits"])


def test_what_it_cannot_read_or_give_is_refused(mixed: Path) -> None:
    model = zoo.load("label-both", mixed, kind=zoo.RecurrentLabeller)
    assert len(model.trace(TEXT * 20, sites=("logits",)).tokens) == MAX_LEN
    with pytest.raises(ValueError, match="no text to run the model on"):
        model.trace("")
    with pytest.raises(NotCaptured, match=r"No site named .rnn\.0\.hidden."):
        model.trace(TEXT, sites=("rnn.0.hidden",))
