"""The training loop."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.model.helpers import flat
from tests.training.toys import BYTES, CONFIG, SETTINGS, losses, read, tiny_batches, tiny_model
from tfmviz.model.transformer import EncoderDecoder, build
from tfmviz.text.tasks import questions
from tfmviz.training import loop
from tfmviz.training.data import windows
from tfmviz.training.evaluation import exact_match, translations
from tfmviz.training.loop import Settings, build_optimizer, evaluate, train
from tfmviz.training.losses import token_loss
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


def test_training_twice_gives_the_same_losses_and_another_seed_others() -> None:
    courses = []
    for seed in (5, 5, 6):
        model, settings = tiny_model(), replace(SETTINGS, seed=seed)
        courses.append(losses(train(model, build_optimizer(model, settings), tiny_batches(seed=seed), settings)))
    assert courses[0] == courses[1] != courses[2]


def test_each_process_draws_its_own_dropout_and_the_same_at_every_start(monkeypatch: pytest.MonkeyPatch) -> None:
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
