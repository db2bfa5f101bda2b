"""Recurrent labellers: torch's own stacked and bidirectional layers, what each state depends on, and the record."""

from typing import Any, get_args

import pytest
import torch
from torch import Tensor, nn

from tests.cases import each
from tests.model.helpers import assert_close, lively, normal, record, token_ids
from tests.model.sizes import LENGTH
from tfmviz.model.earlier import Directions, LabellerConfig, read_config
from tfmviz.model.labeller import BidirectionalLayer, Labeller
from tfmviz.record.edits import Patch
from tfmviz.record.tap import STEPWISE

D, LABELS, VOCAB, LAYERS = 6, 3, 41, 2


def config(directions: Directions, **changes: int) -> LabellerConfig:
    sizes: dict[str, Any] = {"n_labels": LABELS, "vocab_size": VOCAB, "max_len": 13, "d_model": D, "n_layers": LAYERS}
    return LabellerConfig(directions=directions, **sizes | changes)


def labeller(directions: Directions) -> Labeller:
    return lively(Labeller(config(directions)))


def library_of(model: Labeller) -> nn.GRU:
    """`torch.nn.GRU` with the weights of all layers of the model."""
    both = model.config.directions == "both"
    library = nn.GRU(D, model.config.d_hidden, num_layers=LAYERS, bidirectional=both, batch_first=True)
    weights: dict[str, Tensor] = {}
    for name, value in model.state_dict().items():
        if ".gru." in name:
            _, layer, *side, _, weight = name.split(".")
            weights[weight.replace("l0", f"l{layer}") + ("_reverse" if side == ["from_right"] else "")] = value
    library.load_state_dict(weights)
    return library


@each("directions", get_args(Directions))
@each("tap", {"fused": None, "step by step": STEPWISE})
def test_stacked_layers_are_those_of_torch(directions: Directions, tap: object) -> None:
    model, ids = labeller(directions), token_ids(LENGTH)
    states = library_of(model)(D**0.5 * model.W_E[ids])[0]
    logits = model(ids) if tap is None else model(ids, tap=tap)
    assert_close(logits, states @ model.W_L.weight.T + model.W_L.bias)


def test_a_state_that_is_patched_on_the_way_back_is_read_on_from_there() -> None:
    layer, x, vector = lively(BidirectionalLayer(5, 3)), normal(1, LENGTH, 5), (0.5, -0.25, 0.125)
    before = record(layer, x)
    after = record(layer, x, edits=[Patch(site="backward.hidden", vector=vector, position=2)])
    assert after["backward.hidden"][0, 2].tolist() == list(vector)
    assert torch.equal(after["backward.hidden"][:, 3:], before["backward.hidden"][:, 3:])
    rest, _ = layer.from_right.gru(x[:, :2].flip(1), torch.tensor([[vector]]))
    assert_close(after["backward.hidden"][:, :2], rest.flip(1))
    assert torch.equal(after["forward.hidden"], before["forward.hidden"])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="d_model = 7 cannot be split evenly over 2 directions"):
        config("both", d_model=7)
    config("forward", d_model=7)
    with pytest.raises(ValueError, match="directions must be one of forward, both, but is 'back'"):
        read_config(config("both").to_dict() | {"directions": "back"})
