"""Losses, and the learning rate at each step."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tfmviz.schedule import cosine, noam
from tfmviz.training.loop import Settings
from tfmviz.training.losses import IGNORED, smoothed_entropy, token_loss


def test_the_loss_is_computed_in_float32() -> None:
    logits = torch.randn(2, 3, 11, generator=torch.Generator().manual_seed(1)).bfloat16()
    targets = torch.zeros(2, 3, dtype=torch.long)
    assert token_loss(logits, targets).dtype == torch.float32
    assert token_loss(logits, targets) == token_loss(logits.float(), targets)


def logits_and_targets() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    targets = torch.randint(11, (7, 191), generator=generator)  # more rows than are taken at once
    targets[:, 180:] = IGNORED
    targets[3] = IGNORED
    return torch.randn(7, 191, 11, generator=generator) * 2, targets


@each("smoothing", [0.1, 0.5])
def test_the_smoothed_loss_is_the_papers_divergence(smoothing: float) -> None:
    """KL(q ‖ p), with q written out and torch's own divergence: 0 for a model that knows q."""
    logits, targets = logits_and_targets()
    asked = targets != IGNORED
    q = torch.full((int(asked.sum()), 11), smoothing / 11)
    q[torch.arange(len(q)), targets[asked]] += 1 - smoothing
    expected = F.kl_div(logits[asked].log_softmax(dim=-1), q, reduction="batchmean")
    assert token_loss(logits, targets, smoothing=smoothing).item() == pytest.approx(expected.item(), rel=1e-5)
    known = token_loss(q[None].log(), targets[asked][None], smoothing=smoothing)
    assert known.item() == pytest.approx(0, abs=1e-6)


@each("smoothing", [0.0, 0.1])
def test_the_loss_and_its_gradient_are_torchs_up_to_the_entropy_of_the_target(smoothing: float) -> None:
    logits, targets = logits_and_targets()
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    loss = token_loss(ours, targets, smoothing=smoothing)
    reference = torch.nn.CrossEntropyLoss(label_smoothing=smoothing)(theirs.flatten(0, 1), targets.flatten())
    constant = smoothed_entropy(smoothing, vocab_size=11) if smoothing else 0.0
    assert loss.item() + constant == pytest.approx(reference.item(), rel=1e-5)
    (3 * loss).backward()
    (3 * reference).backward()
    assert ours.grad is not None
    assert theirs.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-5, atol=1e-8)


def test_cosine_rises_in_a_line_to_one_and_falls_like_torchs() -> None:
    factors = np.array([cosine(step, warmup=7, steps=101, floor=0.13) for step in range(150)])
    assert factors[6] == 1
    np.testing.assert_allclose(np.diff(factors[:7]), factors[0])  # equal steps from 0
    assert (np.diff(factors[7:101]) < 0).all()
    np.testing.assert_allclose(factors[101:], 0.13)
    assert factors.min() > 0
    assert factors.max() == cosine(0, warmup=0, steps=11) == cosine(0, warmup=0, steps=1) == 1
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    reference = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=101 - 7, eta_min=0.1)
    for step in range(7, 101):
        assert cosine(step, warmup=7, steps=101) == pytest.approx(reference.get_last_lr()[0], rel=1e-6)
        optimizer.step()
        reference.step()


def test_the_noam_schedule_of_a_run_is_the_papers_formula() -> None:
    """Section 5.3 of the paper, base model: 4,000 warmup steps, d_model 512; there is the peak."""
    settings = Settings(steps=10, schedule="noam", learning_rate=(512 * 4000) ** -0.5, warmup=4000)
    for step in (0, 17, 3999, 4000, 99_999):
        formula = 512**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4000**-1.5)
        assert settings.learning_rate_at(step) == pytest.approx(formula, rel=1e-12)
        assert noam(step, d_model=512) == pytest.approx(formula, rel=1e-12)
    rates = [noam(step, d_model=512) for step in range(20_000)]
    assert int(np.argmax(rates)) + 1 == 4000
    assert rates[3999] == pytest.approx(6.988e-4, rel=1e-3)
    assert noam(3999, d_model=2048) == pytest.approx(rates[3999] / 2)
