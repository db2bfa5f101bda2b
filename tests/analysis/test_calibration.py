"""Calibration by cases counted by hand; the smoothed target, its divergence and gradient against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tfmviz.analysis import smoothing
from tfmviz.analysis.calibration import log_softmax, reliability


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
