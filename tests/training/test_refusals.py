"""What cannot be trained is said in one sentence."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, get_args

import pytest

from tests.cases import each
from tests.training.runs import TRANSFORMERS, assert_one_sentence_on, refused, run
from tests.training.toys import SENTENCES, write_lines
from tfmviz.model.config import ModelConfig
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.facts import FeedForwardKind, NormPosition
from tfmviz.text.corpora import is_held_out
from tfmviz.training import __main__ as command
from tfmviz.training.loop import OptimizerName, ScheduleName
from tfmviz.training.options import parse_arguments
from tfmviz.training.shapes import shape

SOURCES: dict[str, Callable[[Path], Any]] = {
    "a missing file": lambda path: path,
    "an empty folder": lambda path: mkdtemp(dir=path.parent),
    "an empty file": lambda path: path.write_bytes(b"") or path,
    "a file that is not UTF-8": lambda path: path.write_bytes(b"caf\xe9\n" * 1000) and path,
    "nothing to hold out": lambda path: write_lines(path, ["The same sentence."] * 1000),
    "a device": lambda path: os.devnull,
    "an absurd number of repetitions": lambda path: f"{write_lines(path, SENTENCES)}:{10**12}",
    "more repetitions than fit into a number of the machine": lambda path: f"{write_lines(path, SENTENCES)}:{10**30}",
}


@each("source", SOURCES)
def test_a_source_that_cannot_be_read_ends_in_one_sentence(
    corpus: Path, tmp_path: Path, source: Callable[[Path], Any]
) -> None:
    refused("lm", corpus, tmp_path / "out", data=source(tmp_path / "source.txt"))
    assert not (tmp_path / "out").exists()


def test_too_much_text_is_refused_by_both_numbers(corpus: Path, tmp_path: Path) -> None:
    path, huge = write_lines(tmp_path / "lines.txt", SENTENCES), tmp_path / "huge.txt"
    n_characters = sum(len(sentence) for sentence in SENTENCES if not is_held_out(sentence))
    with huge.open("wb") as file:
        file.truncate(5 * 10**12)  # takes no room on the disk
    repeated = f"read 1,000,000,000 times, there are {n_characters * 10**9:,} characters"
    for changes, *said in (
        ({"data": f"{path}:{10**9}"}, repeated, "4,000,000,000 are allowed"),
        ({"data": huge}, "huge.txt has 5,000,000,000,000 bytes; 4,000,000,000 are allowed."),
        ({"batch_size": 10**9}, "A step would read 11,000,000,000 tokens; 16,777,216 are allowed."),
    ):
        assert_one_sentence_on(refused("lm", corpus, tmp_path / "out", **changes), *said)


def test_too_little_memory_is_said(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(command, "build", exhausted)
    assert "not enough memory" in refused("lm", corpus, tmp_path / "out")


COUNT, NUMBER = "must be a whole number from 1 to 2,147,483,647", "must be a number, "


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("save_every", 0, COUNT),
        ("steps", -3, COUNT),
        ("layers", "many", COUNT),
        ("heads", "9" * 5000, COUNT),
        ("repeated", -1, "must be a whole number from 0 to 2,147,483,647"),
        ("seed", -1, "must be a whole number from 0 to 4,294,967,295"),
        ("snapshots", 10**9, "must be a whole number from 0 to 1,000"),
        ("dropout", 1, NUMBER + "0 or more and less than 1"),
        ("smoothing", -0.1, NUMBER + "0 or more and less than 1"),
        ("learning_rate", "nan", NUMBER + "more than 0"),
        ("learning_rate", "inf", NUMBER + "more than 0"),
        ("clip", 0, NUMBER + "more than 0"),
        ("minutes", "soon", NUMBER + "0 or more"),
        ("precision", "int8", "invalid choice: 'int8'"),
    ],
)
def test_an_option_out_of_range_is_refused_by_its_name_before_anything_is_written(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: Any, said: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("lm", corpus, tmp_path / "out", **{option: value})
    assert f"argument --{option.replace('_', '-')}: {said}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


MISFITS: tuple[dict[str, Any], ...] = (
    *({"repeated": 3}, {"context": 10**6}, {"vocab_size": 2 * 10**9}, {"about": "no such file.md"}),
    *({"device": "abacus"}, {"start_from": "no such folder"}, {"architecture": "rnn", "dropout": 0.1}),
    {"architecture": "window", "training_mask": "none"},
)


@each(
    "course, changes, message",
    [
        ("mlm", {"batch_tokens": 10**6}, "one batch takes 1000000"),
        ("translate", {"batch_tokens": 10**6}, "one batch takes 1000000"),
        ("spans", {"batch_tokens": 10**6}, "one batch takes 1000000"),
        ("spans", {"context": 1}, "a context has at least 2"),
        ("translate", {"context": 1}, "fits a context of 1"),
        ("task", {"size": 7}, "do not fit a context of 7"),
        ("add", {"size": 19, "context": 64}, "Numbers of 19 digits are asked for; 18 are allowed."),
        ("lm", {"batch_size": 10**6}, "one batch needs"),
        ("label", {"dropout": 0.1}, "the architecture labeller has neither"),
        *(("lm", changes, "") for changes in MISFITS),
    ],
)
def test_each_course_refuses(course: str, changes: dict[str, Any], message: str, corpus: Path, tmp_path: Path) -> None:
    assert message in refused(course, corpus, tmp_path / "toy", **changes)
    assert not (tmp_path / "toy").exists()


CHOICES = {
    "positions": tuple(SCHEMES),
    "norm_position": get_args(NormPosition),
    "feed_forward": get_args(FeedForwardKind),
    "embedding_scale": ("one", "sqrt_d_model"),
    "shared_layers": ("absent", "present"),
    "optimizer": get_args(OptimizerName),
    "schedule": get_args(ScheduleName),
}


@each("course", TRANSFORMERS)
@each("option", list(CHOICES))
def test_unknown_choice_is_named(course: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(course, tmp_path, tmp_path / "out", **{option: "sideways"})
    said = capsys.readouterr().err
    assert f"argument --{option.replace('_', '-')}: invalid choice: 'sideways'" in said
    assert all(f"'{choice}'" in said for choice in CHOICES[option])
    assert list(tmp_path.iterdir()) == []


@each("course", TRANSFORMERS)
@each(
    "options, said",
    [
        ({"width": 50, "heads": 4}, "d_model = 50 cannot be split evenly over n_heads = 4"),
        ({"width": 27, "heads": 3, "positions": "sinusoidal"}, "d_model = 27 is odd"),
        ({"width": 27, "heads": 3, "positions": "rope"}, "d_head = 27 / 3 is odd"),
        ({"layers": 1001}, "1,001"),
        ({"width": 80_000}, "parameters; 2,000,000,000 are allowed"),
    ],
)
def test_options_that_do_not_go_together_are_refused_first(
    course: str, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """Before the data are read: there are none."""
    assert said in refused(course, tmp_path, tmp_path / "out", **options)
    assert list(tmp_path.iterdir()) == []


def test_experts_and_shared_layers_reach_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "lm --data x --out y --experts 3 --shared-layers present --layers 5"
    monkeypatch.setattr(sys, "argv", ["tfmviz.training", *words.split()])
    config = shape(parse_arguments(), vocab_size=300)
    assert isinstance(config, ModelConfig)
    assert (config.feed_forward.n_experts, config.shared_layers, config.n_layers) == (3, True, 5)
