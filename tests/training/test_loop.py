"""The training loop, its losses, and the learning rate at each step."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.model.helpers import flat
from tests.training.toys import BYTES, CONFIG, SETTINGS, losses, read, tiny_batches, tiny_model
from tfmviz.model.transformer import EncoderDecoder, build
from tfmviz.schedule import cosine, noam
from tfmviz.text.tasks import questions
from tfmviz.training import loop
from tfmviz.training.data import windows
from tfmviz.training.evaluation import exact_match, translations
from tfmviz.training.loop import Settings, build_optimizer, evaluate, train
from tfmviz.training.losses import IGNORED, token_loss
from tfmviz.training.sequences import TaskBatches


def test_a_record_tells_the_step_its_loss_and_its_rate() -> None:
    model, batches = tiny_model(replace(CONFIG, dropout=0.0)), tiny_batches()
    inputs, targets = (torch.from_numpy(array) for array in read(batches, 0))
    expected = token_loss(model(inputs), targets).item()
    optimizer = build_optimizer(model, SETTINGS)
    records = []
    for record in train(model, optimizer, batches, SETTINGS):
        assert {group["lr"] for group in optimizer.param_groups} == {record.learning_rate}
        records.append(record)
    assert [record.step for record in records] == list(range(7))
    assert records[0].loss == pytest.approx(expected, rel=1e-6)
    assert max(record.learning_rate for record in records) == SETTINGS.learning_rate
    assert all(record.tokens_per_second > 0 for record in records)


@each("clip", {"clipped": 0.01, "not clipped": 1e9})
def test_the_gradient_is_clipped_before_the_update_and_recorded_before_clipping(clip: float) -> None:
    model, settings = tiny_model(), replace(SETTINGS, clip=clip, steps=3)
    optimizer = build_optimizer(model, settings)
    used: list[float] = []

    def measure(*_: Any) -> None:
        gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        assert len(gradients) == len(list(model.parameters()))
        used.append(torch.cat(gradients).norm().item())

    optimizer.register_step_pre_hook(measure)
    records = list(train(model, optimizer, tiny_batches(), settings))
    for record, norm in zip(records, used, strict=True):
        assert record.grad_norm > 0.01
        assert norm == pytest.approx(min(record.grad_norm, clip), rel=1e-3)


def test_only_matrices_decay_and_adam_has_the_settings_of_the_paper() -> None:
    model = tiny_model()
    groups = build_optimizer(model, SETTINGS).param_groups
    decay = {id(p): group["weight_decay"] for group in groups for p in group["params"]}
    assert len(decay) == sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    for name, parameter in model.named_parameters():
        vector = name.endswith(".bias") or ".norm." in name
        assert decay[id(parameter)] == (0.0 if vector else SETTINGS.weight_decay), name
    optimizer = build_optimizer(torch.nn.Linear(3, 5), Settings(steps=1, optimizer="adam"))
    (group,) = optimizer.param_groups
    assert isinstance(optimizer, torch.optim.Adam)
    assert (group["betas"], group["eps"], group["weight_decay"], group["fused"]) == ((0.9, 0.98), 1e-9, 0, True)


def test_a_seed_decides_the_training_and_each_process_draws_its_own_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    courses = []
    for seed in (5, 5, 6):
        model, settings = tiny_model(), replace(SETTINGS, seed=seed)
        courses.append(losses(train(model, build_optimizer(model, settings), tiny_batches(seed=seed), settings)))
    assert courses[0] == courses[1] != courses[2]
    courses = []
    for number in (0, 1, 1):
        monkeypatch.setattr(loop, "rank", lambda number=number: number)
        model, settings = tiny_model(), replace(SETTINGS, steps=2)
        courses.append(losses(train(model, build_optimizer(model, settings), tiny_batches(), settings)))
    assert courses[0] != courses[1] == courses[2]


def test_looking_at_a_model_between_steps_changes_nothing() -> None:
    """An evaluation turns dropout off; the next step has to turn it on again."""
    courses = []
    for looks in (False, True):
        model, course = tiny_model(), []
        for record in train(model, build_optimizer(model, SETTINGS), tiny_batches(), SETTINGS):
            course.append(record.loss)
            if looks:
                evaluate(model, windows(np.arange(23, dtype=np.uint16), length=11))
        courses.append(course)
    assert courses[0] == courses[1]


def test_a_task_is_learned() -> None:
    torch.manual_seed(0)
    sizes = {"vocab_size": 257, "max_len": 8, "d_model": 32, "n_layers": 1, "n_heads": 2, "n_kv_heads": 2, "d_ff": 64}
    model = build(flat(architecture="encoder-decoder", **sizes))
    batches = TaskBatches(task="copy", tokenizer=BYTES, size=1, batch_size=64)
    settings = Settings(steps=240, learning_rate=3e-3, warmup=20)
    course = [record.loss for record in train(model, build_optimizer(model, settings), batches, settings)]
    assert course[-1] < 0.1 * course[0]
    assert isinstance(model, EncoderDecoder)
    asked = questions("copy", np.random.default_rng(0), n=20, size=1, held_out=False)
    assert exact_match(translations(model, BYTES, asked), asked) == 1


def test_the_loss_is_computed_in_float32() -> None:
    logits = torch.randn(2, 3, 11, generator=torch.Generator().manual_seed(1)).bfloat16()
    targets = torch.zeros(2, 3, dtype=torch.long)
    assert token_loss(logits, targets).dtype == torch.float32
    assert token_loss(logits, targets) == token_loss(logits.float(), targets)


@each("smoothing", [0.0, 0.1])
def test_the_loss_and_its_gradient_are_torchs_up_to_the_entropy_of_the_target(smoothing: float) -> None:
    generator = torch.Generator().manual_seed(1)
    targets = torch.randint(11, (7, 191), generator=generator)  # more rows than are taken at once
    targets[:, 180:] = IGNORED
    targets[3] = IGNORED
    logits = torch.randn(7, 191, 11, generator=generator) * 2
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    loss = token_loss(ours, targets, smoothing=smoothing)
    reference = torch.nn.CrossEntropyLoss(label_smoothing=smoothing)(theirs.flatten(0, 1), targets.flatten())
    q = torch.full((11,), smoothing / 11)
    q[0] += 1 - smoothing
    constant = torch.distributions.Categorical(q).entropy().item()
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
