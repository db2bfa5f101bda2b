"""The options of the training command are checked before anything is written."""

import sys
from pathlib import Path
from typing import get_args

import pytest

import tfmviz.training.__main__ as command
from tests.cases import each
from tfmviz.model.config import ModelConfig
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.facts import FeedForwardKind, NormPosition
from tfmviz.training.loop import OptimizerName, ScheduleName
from tfmviz.training.options import parse_arguments
from tfmviz.training.shapes import shape

COURSES = {
    "lm": "lm --data {folder}/missing.txt",
    "mlm": "mlm --data {folder}/missing.txt",
    "spans": "spans --data {folder}/missing.txt",
    "translate": "translate --data {folder}/missing.tsv",
    "task": "task reverse",
    "induction": "task induction",
}
CHOICES = {
    "--positions": tuple(SCHEMES),
    "--norm-position": get_args(NormPosition),
    "--feed-forward": get_args(FeedForwardKind),
    "--embedding-scale": ("one", "sqrt_d_model"),
    "--shared-layers": ("absent", "present"),
    "--optimizer": get_args(OptimizerName),
    "--schedule": get_args(ScheduleName),
}


def run(course: str, folder: Path, *options: str) -> int:
    words = COURSES[course].format(folder=folder).split()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["tfmviz.training", *words, "--out", str(folder / "out"), "--steps", "1", *options])
        return command.main()


@each("course", list(COURSES))
@each("option", list(CHOICES))
def test_unknown_choice_is_named(course: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(course, tmp_path, option, "sideways")
    said = capsys.readouterr().err
    assert f"argument {option}: invalid choice: 'sideways'" in said
    assert all(f"'{choice}'" in said for choice in CHOICES[option])
    assert list(tmp_path.iterdir()) == []


@each("course", list(COURSES))
@each(
    "options, said",
    [
        (("--width", "50", "--heads", "4"), "d_model = 50 cannot be split evenly over n_heads = 4"),
        (("--width", "27", "--heads", "3", "--positions", "sinusoidal"), "d_model = 27 is odd"),
        (("--width", "27", "--heads", "3", "--positions", "rope"), "d_head = 27 / 3 is odd"),
        (("--layers", "1001"), "1,001"),
        (("--width", "80000"), "parameters; 2,000,000,000 are allowed"),
    ],
)
def test_options_that_do_not_go_together_are_refused_first(
    course: str, options: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(course, tmp_path, *options) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_experts_and_shared_layers_reach_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "lm --data x --out y --experts 3 --shared-layers present --layers 5"
    monkeypatch.setattr(sys, "argv", ["tfmviz.training", *words.split()])
    config = shape(parse_arguments(), vocab_size=300)
    assert isinstance(config, ModelConfig)
    assert (config.feed_forward.n_experts, config.shared_layers, config.n_layers) == (3, True, 5)
