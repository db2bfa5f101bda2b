"""How gradients fade through a recurrent layer, against torch's own differentiation; the steps of a layer, by hand."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from tests.model.helpers import VOCAB, lively, token_ids
from tfmviz.analysis import recurrence
from tfmviz.analysis.recurrence import Steps
from tfmviz.model.build import build
from tfmviz.model.connectivity import pull
from tfmviz.model.earlier import RecurrentConfig, WindowConfig
from tfmviz.model.recurrent import SITES, RecurrentLayer, RecurrentModel, weights_of
from tfmviz.record.tap import Recorder

WIDTH, LENGTH = 5, 7


def model() -> RecurrentModel:
    found = lively(build(RecurrentConfig(vocab_size=VOCAB, max_len=13, d_model=WIDTH, n_layers=2)))
    assert isinstance(found, RecurrentModel)
    return found


def test_jacobians_are_those_that_torch_differentiates() -> None:
    network, recorder = model(), Recorder()
    with torch.no_grad():
        network(token_ids(LENGTH, batch=1), tap=recorder)
    for index in range(2):
        layer = network.get_submodule(f"rnn.{index}")
        assert isinstance(layer, RecurrentLayer)
        values = {site: recorder.values[f"rnn.{index}.{site}"][0] for site in SITES}
        at = Steps(**{site: value.numpy() for site, value in values.items()})
        below = recorder.values["embed" if index == 0 else f"rnn.{index - 1}.hidden"][0]
        found = recurrence.fading(weights_of(network, index), at)
        product = torch.eye(WIDTH)
        assert found[0] == 1
        for t in range(1, LENGTH):
            step = torch.autograd.functional.jacobian(partial(_next, layer, below[t]), values["hidden"][t - 1])
            assert isinstance(step, torch.Tensor)
            mine = recurrence.jacobian(weights_of(network, index), at, t)
            np.testing.assert_allclose(mine, step.numpy(), rtol=1e-4, atol=1e-6)
            product = step @ product
            assert abs(found[t] - product.norm().item() / WIDTH**0.5) < 1e-5


def _next(layer: RecurrentLayer, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    return layer.step(x[None], h[None])[0]


def test_gradients_reach_as_far_as_the_model_sees() -> None:
    ids = token_ids(LENGTH, batch=1)[0].tolist()
    assert (pull(model(), ids) > 0).all()
    window = lively(build(WindowConfig(vocab_size=VOCAB, max_len=13, n_window=3, d_model=5, d_hidden=11)))
    found = pull(window, ids)  # type: ignore[arg-type]
    assert (found[:-3] == 0).all()
    assert (found[-3:] > 0).all()


def test_a_gradient_is_the_slope_of_the_best_tokens_probability() -> None:
    network, ids = model().double(), token_ids(LENGTH, batch=1)
    best, small = int(network(ids)[0, -1].argmax()), 1e-5

    def log_p(unit: int, change: float) -> float:
        with torch.no_grad():
            return float(network(ids, tap=_Shifted(2, unit, change))[0, -1].log_softmax(dim=-1)[best])

    slopes = [(log_p(unit, small) - log_p(unit, -small)) / (2 * small) for unit in range(WIDTH)]
    np.testing.assert_allclose(pull(network, ids[0].tolist())[2], np.linalg.norm(slopes), rtol=1e-5)


class _Shifted:
    """A tap that adds a number to one coordinate of one token's vector."""

    def __init__(self, place: int, unit: int, change: float) -> None:
        self.where, self.change = (0, place, unit), change

    def __call__(self, name: str, value: torch.Tensor) -> torch.Tensor:
        if name == "embed":
            value = value.clone()
            value[self.where] += self.change
        return value

    def scope(self, name: str) -> _Shifted:
        return self

    def at(self, position: int, *, length: int) -> _Shifted:
        return self

    def watches(self, *names: str) -> bool:
        return False


def test_steps_of_each_kind_of_layer() -> None:
    assert recurrence.steps_of_recurrence(3, 4).tolist() == [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    assert recurrence.steps_of_layers(3, 4).tolist() == [[1] * 4, [2] * 4, [3] * 4]
    assert recurrence.reach_of_convolution(4, width=3).tolist() == [2, 4, 6, 8]
