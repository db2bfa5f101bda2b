"""A window network taken apart: its parts add up to what torch computes."""

import numpy as np
import pytest
import torch

from tfmviz import zoo
from tfmviz.analysis.window_network import n_numbers, network
from tfmviz.model.window import WindowModel

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


def test_only_a_window_network_has_these_weights() -> None:
    with pytest.raises(ValueError, match="no window network"):
        zoo.experiments.window_weights(zoo.load("ladder-rnn", kind=zoo.EarlierModel))
