"""How a model copies: against losses computed by torch, and against laws of a head that is switched off."""

from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tfmviz import zoo
from tfmviz.analysis import forming
from tfmviz.analysis.heads import random_repeats
from tfmviz.record.edits import AblateHead
from tfmviz.zoo import ZooModel, snapshots

PERIOD = 32


def at(step: int) -> tuple[ZooModel, forming.Copying]:
    model = snapshots.load(zoo.MODELS / "induction", step)
    trace = model.trace(IDS)
    return model, forming.copying(trace, partial(zoo.experiments.logits_under, model, trace.target.ids))


@pytest.fixture(scope="module")
def formed() -> tuple[ZooModel, forming.Copying]:
    return at(761)


IDS = random_repeats(vocab_size=1024, max_len=64)


def losses(model: ZooModel, *edits: AblateHead) -> np.ndarray:
    logits = torch.tensor(model.trace(IDS, edits)["logits"]).double()
    return F.cross_entropy(logits[:-1], torch.tensor(IDS[1:]), reduction="none").numpy()


def test_the_losses_are_torchs_also_without_each_head(formed: tuple[ZooModel, forming.Copying]) -> None:
    model, found = formed
    each = losses(model)  # the loss at position i is that of token i + 1
    assert found.first == pytest.approx(each[: PERIOD - 1].mean(), abs=1e-5)
    assert found.second == pytest.approx(each[PERIOD : 2 * PERIOD - 1].mean(), abs=1e-5)
    assert found.in_context == pytest.approx(found.second - found.first)
    assert found.heads == ("0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3")
    for n, name in enumerate(found.heads):
        layer, head = map(int, name.split("."))
        without = losses(model, AblateHead(layer=f"decoder.{layer}.self_attn", head=head))[PERIOD:].mean()
        assert found.damage[n] == pytest.approx(without - found.second, abs=1e-4), name


def test_induction_heads_form_between_438_and_761_updates(formed: tuple[ZooModel, forming.Copying]) -> None:
    before, after = at(438)[1], formed[1]
    assert before.scores["induction"].max() < 0.2 < 0.8 < after.scores["induction"].max()
    assert before.second > 5 > 0.5 > after.second
    assert after.in_context < before.in_context - 4
    assert after.damage.argmax() == after.scores["previous token"].argmax()


def test_the_loss_at_each_position_is_the_mean_over_texts() -> None:
    rng = np.random.default_rng(0)
    logits, texts = rng.standard_normal((3, 5, 7)), rng.integers(7, size=(3, 5))
    flat = torch.tensor(logits[:, :-1]).flatten(0, 1), torch.tensor(texts[:, 1:]).flatten()
    each = F.cross_entropy(*flat, reduction="none").reshape(3, 4)
    np.testing.assert_allclose(forming.loss_at(logits, texts), each.mean(dim=0).numpy())
