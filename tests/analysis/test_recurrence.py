"""How gradients fade through a recurrent layer, against torch's own differentiation; a window network taken apart."""

from functools import partial

import numpy as np
import pytest
import torch

from tests.model.helpers import lively, token_ids
from tests.model.sizes import VOCAB
from tfmviz import zoo
from tfmviz.analysis import recurrence
from tfmviz.analysis.recurrence import Steps
from tfmviz.analysis.window_network import n_numbers, network
from tfmviz.model.build import build
from tfmviz.model.connectivity import pull
from tfmviz.model.earlier import RecurrentConfig, WindowConfig
from tfmviz.model.recurrent import SITES, RecurrentLayer, RecurrentModel, weights_of
from tfmviz.model.window import WindowModel
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
        weights = weights_of(layer)
        values = {site: recorder.values[f"rnn.{index}.{site}"][0] for site in SITES}
        at = Steps(**{site: value.numpy() for site, value in values.items()})
        below = recorder.values["embed" if index == 0 else f"rnn.{index - 1}.hidden"][0]
        found = recurrence.fading(weights, at)
        product = torch.eye(WIDTH)
        assert found[0] == 1
        for t in range(1, LENGTH):
            next_of = partial(layer.step, below[t][None])
            step = torch.func.jacrev(next_of)(values["hidden"][t - 1][None])[0, :, 0]
            mine = recurrence.jacobian(weights, at, t)
            np.testing.assert_allclose(mine, step.detach().numpy(), rtol=1e-4, atol=1e-6)
            terms, biases = recurrence.products(weights, below[t].numpy(), at.hidden[t - 1], 3)
            sums = terms.sum(axis=1) + biases
            gates = (at.reset[t, 3], at.update[t, 3], at.candidate[t, 3])
            np.testing.assert_allclose([*1 / (1 + np.exp(-sums[:2])), np.tanh(sums[2])], gates, atol=1e-5)
            product = step @ product
            assert abs(found[t] - product.norm().item() / WIDTH**0.5) < 1e-5


def test_a_gradient_is_the_slope_of_the_best_tokens_probability() -> None:
    network, ids = model().double(), token_ids(LENGTH, batch=1)
    best, small = int(network(ids)[0, -1].argmax()), 1e-5

    added = torch.zeros(1, LENGTH, WIDTH, dtype=torch.float64)

    class Shifted(Recorder):
        """Adds a number to one coordinate of one token's vector."""

        def __call__(self, name: str, value: torch.Tensor) -> torch.Tensor:
            return value + added if name == "embed" else value

    def log_p(unit: int, change: float) -> float:
        added[0, 2] = change * torch.eye(WIDTH)[unit]
        with torch.no_grad():
            return float(network(ids, tap=Shifted())[0, -1].log_softmax(dim=-1)[best])

    slopes = [(log_p(unit, small) - log_p(unit, -small)) / (2 * small) for unit in range(WIDTH)]
    np.testing.assert_allclose(pull(network, ids[0].tolist())[2], np.linalg.norm(slopes), rtol=1e-5)


def test_gradients_and_steps_reach_as_far_as_the_model_sees() -> None:
    assert recurrence.steps_of_recurrence(3, 4).tolist() == [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    assert recurrence.steps_of_layers(3, 4).tolist() == [[1] * 4, [2] * 4, [3] * 4]
    assert recurrence.reach_of_convolution(4, width=3).tolist() == [2, 4, 6, 8]
    ids = token_ids(LENGTH, batch=1)[0].tolist()
    assert (pull(model(), ids) > 0).all()
    window = lively(build(WindowConfig(vocab_size=VOCAB, max_len=13, n_window=3, d_model=5, d_hidden=11)))
    found = pull(window, ids)  # type: ignore[arg-type]
    assert (found > 0).tolist() == [False] * (LENGTH - 3) + [True] * 3


TEXT = "The dog saw the cat, and the cat saw the"


def test_the_parts_add_up_to_what_the_module_computes() -> None:
    model = zoo.load("ladder-window", kind=zoo.EarlierModel)
    module, ids = model.module, model.encode(TEXT).ids
    assert isinstance(module, WindowModel)
    with torch.inference_mode():
        h = module.hidden(torch.tensor([ids]))[0, -1].numpy()
        logits = module.after(torch.tensor([ids]))[0].numpy()
    e = module.W_E[list(ids[-8:])].detach().numpy()
    found = network(zoo.experiments.window_weights(model), e)
    np.testing.assert_allclose(np.tanh(found.added().sum(axis=0) + found.b_1), h, atol=1e-5)
    np.testing.assert_allclose(found.logits, logits, atol=1e-4)
    units = np.array([found.of_words(unit) for unit in range(len(h))])
    np.testing.assert_allclose(units.sum(axis=0) + module.U.bias.detach().numpy(), logits, atol=1e-4)
    assert found.W.size == n_numbers(8, 128, 256)
    for place in (0, 1, 7):
        np.testing.assert_allclose(found.elsewhere(place)[place], found.added()[place])
    first, last = (n for n, one in enumerate(ids[-8:]) if one == ids[-1] and n in (0, 7))  # the same word twice
    np.testing.assert_allclose(found.elsewhere(first)[last], found.added()[last])
    assert np.abs(found.added()[first] - found.added()[last]).max() > 0.1, "each place has a W of its own"
    with pytest.raises(ValueError, match="no window network"):
        zoo.experiments.window_weights(zoo.load("ladder-rnn", kind=zoo.EarlierModel))
