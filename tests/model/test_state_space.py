"""The state space model: its recurrence is a convolution, both are those of numpy, and the future changes no past."""

import numpy as np
import torch

from tests.model.helpers import assert_close, lively, normal, record
from tests.model.sizes import BATCH, LENGTH, VOCAB
from tfmviz.analysis.efficient import state_space as formulas
from tfmviz.model.build import build
from tfmviz.model.earlier import StateSpaceConfig
from tfmviz.model.state_space import StateSpace, StateSpaceModel
from tfmviz.record.tap import NO_TAP

WIDTH, STATE, LAYERS = 11, 5, 2

CONFIG = StateSpaceConfig(vocab_size=VOCAB, max_len=13, d_model=WIDTH, n_state=STATE, d_ff=37, n_layers=LAYERS)


def model() -> StateSpaceModel:
    found = lively(build(CONFIG))
    assert isinstance(found, StateSpaceModel)
    return found


@torch.no_grad()
def test_each_channel_is_the_recurrence_and_the_convolution_of_numpy() -> None:
    layer, v = lively(StateSpace(CONFIG)), normal(BATCH, LENGTH, WIDTH)
    a = np.exp(-np.exp(layer.log_rate.double().numpy()))
    b, c = np.sqrt(1 - a**2), layer.C.double().numpy()
    found = layer.convolve(v).double().numpy()
    for channel in range(WIDTH):
        x = v[:, :, channel].double().numpy().T  # (len, batch): numpy's coordinates do not mix
        expected = formulas.recurrence(x, a[channel], b[channel], c[channel])
        np.testing.assert_allclose(found[:, :, channel].T, expected, atol=1e-5)
        kernel = formulas.kernel(LENGTH, a[channel], b[channel], c[channel])
        np.testing.assert_allclose(layer.kernel(LENGTH)[channel].numpy(), kernel, atol=1e-5)
        np.testing.assert_allclose(formulas.convolution(x, kernel), expected, atol=1e-12)


def test_the_recorded_state_is_the_sum_of_all_past_tokens_each_faded_by_its_age() -> None:
    a, b = lively(StateSpace(CONFIG)).decay()
    assert ((a > 0) & (a < 1)).all()
    assert_close(a**2 + b**2, torch.ones_like(a))
    assert NO_TAP.watches("hidden") is False
    layer, x = lively(StateSpace(CONFIG)), normal(BATCH, LENGTH, WIDTH)
    values = record(layer, x)
    h = values["hidden"].unflatten(-1, (WIDTH, STATE)).double()
    v, (a, b) = layer.W_in(x).double(), (part.double() for part in layer.decay())
    for t in range(LENGTH):
        assert_close(h[:, t], sum(a ** (t - j) * b * v[:, j, :, None] for j in range(t + 1)))
