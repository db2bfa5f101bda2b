"""A run that leaves the finite numbers ends there, with a sentence and the model of its last checkpoint."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.cases import each
from tests.training.runs import (
    assert_one_sentence_on,
    broken_off_after,
    card_of,
    logged_losses,
    refused,
    run,
    run_in_two,
    words,
)
from tests.training.toys import SETTINGS, tiny_batches, tiny_model
from tfmviz import zoo
from tfmviz.training.loop import Diverged, build_optimizer, train

TOO_FAST = 1e30
"""A learning rate after one update of which no loss is finite."""


def test_an_update_whose_loss_or_gradient_is_not_finite_is_not_made() -> None:
    model = tiny_model()
    with torch.no_grad():
        next(model.parameters()).fill_(torch.inf)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(Diverged, match=r"diverged: the loss in update 1 is (nan|inf)\."):
        next(train(model, build_optimizer(model, SETTINGS), tiny_batches(), SETTINGS))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    model = tiny_model()
    next(model.parameters()).register_hook(lambda gradient: gradient * torch.inf)
    with pytest.raises(Diverged, match=r"diverged: the length of the gradient in update 1 is (nan|inf)\."):
        next(train(model, build_optimizer(model, SETTINGS), tiny_batches(), SETTINGS))


@each("average", [1, 2])
def test_the_last_checkpoint_becomes_the_model(average: int, corpus: Path, trained: Path, tmp_path: Path) -> None:
    """The first updates are those of a run that ends well, which keeps a checkpoint after the third."""
    out = tmp_path / "toy"
    told = refused("lm", corpus, out, change_rate=f"4:{TOO_FAST}", average=average, snapshots=9)
    assert_one_sentence_on(told, "the loss in update 6 is nan", "last checkpoint, after 3 updates.")
    assert "Choose a learning rate below 1e+30, or a warm-up longer than 0 updates." in told
    assert logged_losses(out)[:4] == logged_losses(trained)[:4]
    assert np.isfinite(logged_losses(out)).all()
    assert "| training | 3 of 8 steps, then it diverged, " in card_of(out)
    kept = load_file(out / "checkpoint.safetensors")
    for name, weight in load_file(out / "model.safetensors").items():
        assert torch.equal(weight, kept[f"model.{name}"].half())
    for file in (out / "snapshots").iterdir():
        assert all(weight.isfinite().all() for weight in load_file(file).values()), file
    assert zoo.load("toy", folder=tmp_path).trace("The cat sees").first_not_finite() is None


@each("changes", {"loss": {"learning_rate": TOO_FAST}, "weights": {"change_rate": "2:1e6"}})
def test_without_a_checkpoint_there_is_no_model(changes: dict[str, Any], corpus: Path, tmp_path: Path) -> None:
    """A weight of a million is finite in training, but not in the file of a model, which the app would refuse."""
    assert_one_sentence_on(
        refused("lm", corpus, tmp_path / "toy", **changes), "diverged", "It has no checkpoint, so there is no model."
    )
    assert zoo.available(tmp_path) == ()
    assert not (tmp_path / "toy" / "CARD.md").exists()


def test_the_last_update_may_spoil_a_model(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lm", corpus, tmp_path / "toy", change_rate=f"7:{TOO_FAST}") == 1
    said = ("the model of update 8 has numbers that are not finite", "after 6 updates")
    assert_one_sentence_on(capsys.readouterr().err, *said)


def test_a_run_diverges_again_where_it_did(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"change_rate": f"4:{TOO_FAST}"}
    with broken_off_after(3):
        run("lm", corpus, tmp_path / "toy", **changes)
    models, sentences = [], []
    for _ in range(2):
        assert run("lm", corpus, tmp_path / "toy", **changes) == 1
        sentences.append(capsys.readouterr().err)
        models.append((tmp_path / "toy" / "model.safetensors").read_bytes())
    assert "update 6" in sentences[0]
    assert sentences[0] == sentences[1]
    assert models[0] == models[1]


def test_all_processes_of_a_run_end_and_the_first_has_the_sentence_and_the_model(corpus: Path, tmp_path: Path) -> None:
    done = run_in_two(words("translate", corpus, tmp_path / "two", change_rate=f"4:{TOO_FAST}"))
    assert done.returncode != 0
    assert done.stderr.count("Cannot train: The run has diverged: the loss in update 6 is nan") == 1
    assert "last checkpoint, after 3 updates." in done.stderr
    assert (tmp_path / "two" / "CARD.md").exists()
