"""Adam against torch's own, and what the page says of its first step and of descent in a valley."""

import numpy as np
import torch

from tests.cases import each
from tfmviz.analysis.optimisers import AdamSettings, adam, descent, momentum, valley

START = np.array([-2.5, 1.0])


def torch_places(make: type[torch.optim.Optimizer], *, steps: int, steepness: float, **settings: object) -> np.ndarray:
    """The places that an optimiser of torch visits in the same valley, in float64."""
    place = torch.tensor(START, requires_grad=True)
    optimiser = make([place], **settings)  # type: ignore[arg-type]
    places = [place.detach().numpy().copy()]
    for _ in range(steps):
        optimiser.zero_grad()
        (0.5 * (place[0] ** 2 + steepness * place[1] ** 2)).backward()
        optimiser.step()
        places.append(place.detach().numpy().copy())
    return np.array(places)


@each("rate, beta1, beta2", [(0.1, 0.9, 0.98), (0.3, 0.0, 0.9), (0.03, 0.99, 0.999)])
def test_adam_visits_torch_s_places(rate: float, beta1: float, beta2: float) -> None:
    _, gradient = valley(30.0)
    ours = adam(gradient, START, AdamSettings(learning_rate=rate, beta1=beta1, beta2=beta2), steps=47)
    theirs = torch_places(torch.optim.Adam, steps=47, steepness=30.0, lr=rate, betas=(beta1, beta2), eps=1e-9)
    assert np.allclose(ours.places, theirs, rtol=1e-9, atol=1e-11)


def test_descent_and_momentum_visit_torch_s_places() -> None:
    _, gradient = valley(30.0)
    plain = descent(gradient, START, learning_rate=0.03, steps=23)
    heavy = momentum(gradient, START, learning_rate=0.03, beta=0.9, steps=23)
    for ours, beta in ((plain, 0.0), (heavy, 0.9)):
        theirs = torch_places(torch.optim.SGD, steps=23, steepness=30.0, lr=0.03, momentum=beta)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_the_first_step_is_as_long_as_the_rate_and_the_gradient_that_of_the_height() -> None:
    _, gradient = valley(100.0)
    first = adam(gradient, START, AdamSettings(learning_rate=0.1), steps=1)
    assert np.allclose(first.places[1] - first.places[0], -0.1 * np.sign(START))
    assert np.allclose(first.m_hat, first.gradients)
    assert np.allclose(first.v_hat, first.gradients**2)
    without = adam(gradient, START, AdamSettings(learning_rate=0.1, corrected=False), steps=1)
    assert np.allclose(np.abs(without.places[1] - START), 0.1 * 0.1 / np.sqrt(0.02))
    function, gradient = valley(7.0)
    place, step = np.array([0.3, -1.1]), 1e-6
    by_hand = [(function(place + step * axis) - function(place - step * axis)) / (2 * step) for axis in np.eye(2)]
    assert np.allclose(gradient(place), by_hand)
