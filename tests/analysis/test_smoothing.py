"""The smoothed target, its divergence and the gradient, against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tfmviz.analysis import smoothing


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
