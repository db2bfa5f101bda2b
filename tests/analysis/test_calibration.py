"""Calibration by cases counted by hand; smoothed targets, Adam, momentum and descent against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tfmviz.analysis import smoothing
from tfmviz.analysis.calibration import log_softmax, reliability
from tfmviz.analysis.optimisers import AdamSettings, adam, descent, momentum, valley


def test_the_error_is_the_mean_gap_weighted_by_the_guesses() -> None:
    confidence = np.repeat([0.25, 0.75], [400, 400])
    is_right = np.arange(800) % 400 < np.repeat([100, 300], [400, 400])
    found = reliability(confidence, is_right)
    assert found.error == 0
    assert found.count.tolist() == [0, 0, 400, 0, 0, 0, 0, 400, 0, 0]
    assert np.isnan(found.accuracy[0])
    found = reliability(np.array([0.9, 0.9, 0.9, 0.35]), np.array([True, False, False, True]))
    assert np.isclose(found.error, 0.75 * abs(1 / 3 - 0.9) + 0.25 * abs(1 - 0.35))


def test_bins_are_equally_wide_and_log_softmax_is_torchs() -> None:
    logits = np.random.default_rng(1).normal(scale=30, size=(5, 11))
    for t in (0.5, 1.0, 3.0):
        np.testing.assert_allclose(log_softmax(logits, temperature=t), torch.tensor(logits / t).log_softmax(dim=-1))
    rng = np.random.default_rng(0)
    confidence, is_right = rng.uniform(size=1009), rng.uniform(size=1009) < 0.6
    found = reliability(np.append(confidence, 1.0), np.append(is_right, True), bins=7)
    for b in range(7):
        inside = (confidence >= b / 7) & (confidence < (b + 1) / 7)
        extra = b == 6
        assert found.count[b] == inside.sum() + extra
        assert np.isclose(found.accuracy[b] * found.count[b], is_right[inside].sum() + extra)


@each("epsilon", [0.0, 0.1, 0.9])
def test_divergence_and_gradient_are_torch_s(epsilon: float) -> None:
    logits = torch.randn(13, generator=torch.Generator().manual_seed(2), dtype=torch.float64).requires_grad_()
    q = smoothing.smoothed(5, epsilon=epsilon, vocab_size=13)
    log_p = logits.log_softmax(dim=0)
    loss = F.kl_div(log_p, torch.from_numpy(q), reduction="sum")
    loss.backward()
    assert logits.grad is not None
    ours = log_p.detach().numpy()
    assert smoothing.divergence(q, ours) == pytest.approx(loss.item())
    assert np.allclose(smoothing.gradient(q, ours), logits.grad.numpy())
    cross_entropy = F.cross_entropy(logits, torch.tensor(5), label_smoothing=epsilon).item()
    entropy = -(q[q > 0] * np.log(q[q > 0])).sum()
    assert smoothing.divergence(q, ours) == pytest.approx(cross_entropy - entropy)


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
