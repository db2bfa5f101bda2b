"""Only allowed words and numbers reach the command; a reader's text becomes documents."""

import dataclasses
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import each
from tfmviz.runs import choices as limits
from tfmviz.runs import texts
from tfmviz.runs.choices import Choices
from tfmviz.runs.texts import KEPT_OUT, LEAST, MOST, UnfitText, prepared
from tfmviz.text.corpora import is_held_out
from tfmviz.text.tokenizer import END_OF_TEXT
from tfmviz.training.courses import check_options
from tfmviz.training.data import load_split
from tfmviz.training.options import parse_arguments

ODD: tuple[Any, ...] = (
    *("--out", "/etc", "../x", "reverse\n", "", None, True, [], "1"),
    *(float("nan"), float("inf"), 10**9, -1),
)


def test_every_setting_refuses_what_it_does_not_know() -> None:
    for field, value in product(dataclasses.fields(Choices), ODD):
        with pytest.raises(ValueError, match=field.name):
            Choices.from_dict({field.name: value})
    with pytest.raises(ValueError, match="no settings"):
        Choices.from_dict({"out": "/tmp"})
    with pytest.raises(ValueError, match="20 cannot be shared by 8"):
        Choices(width=20, heads=8)


@each("task", limits.WORDS["task"])
@each("end", {"least": 0, "most": 1})
def test_the_command_understands_the_extremes_of_all_numbers(
    task: str, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Choices.from_dict({"task": task} | {name: numbers[end] for name, numbers in limits.NUMBERS.items()})
    monkeypatch.setattr(sys, "argv", ["tfmviz.training", *chosen.command(("data.txt",))])
    args = parse_arguments()
    check_options(args)
    expected = {name: value for name, value in chosen.to_dict().items() if name != "task"}
    assert {name: getattr(args, name) for name in expected} == expected
    assert str(args.out) == "model"
    assert getattr(args, "name", task) == task


def test_what_sets_two_runs_apart_is_named() -> None:
    one, other = Choices(), Choices(layers=2, dropout=0.1)
    assert one.differing(other) == {"layers": (1, 2), "dropout": (0.0, 0.1)}
    assert one.differing(one) == {}


WORDS = ["cat", "dog", "<b>", "老王", "🙂", "$x$", "--out", "../../etc"]


def of_words(n_characters: int, *, between: str, seed: int = 0) -> str:
    return between.join(np.random.default_rng(seed).choice(WORDS, n_characters))[:n_characters]


@each("between", [" ", "\n", "\n\n", "\r\n", "", " <|endoftext|> ", "\x00", "\u2028"])
@each("seed", range(4))
def test_the_command_finds_something_to_train_on_and_something_held_out(
    between: str, seed: int, tmp_path: Path
) -> None:
    text = of_words(4 * LEAST, between=between, seed=seed)
    (tmp_path / "data.txt").write_text(prepared(text), encoding="utf-8")
    split = load_split([(tmp_path / "data.txt", 1)])
    assert KEPT_OUT * 0.8 <= sum(map(len, split.held_out)) <= len(text) / 2
    assert sum(map(len, split.train)) > len(text.replace(END_OF_TEXT, "")) / 4
    assert not set("".join(split.train + split.held_out)) - set(text) - {"\n", " "}


def test_a_text_of_an_unfit_length_is_refused_and_the_limits_are_said() -> None:
    unfit = {
        "": "has 0 characters",
        "ten chars.": "has 10 characters",
        " " * 10_000: "has 0 ",
        "ab " * 700_000: "2,099,999",
    }
    for text, says in unfit.items():
        with pytest.raises(UnfitText, match=f"{says}.*{LEAST:,} to {MOST:,}"):
            prepared(text)
    for length in (LEAST, MOST):  # the limits themselves are allowed
        assert prepared(of_words(length, between=" ").replace(" ", "x", 1).ljust(length, "x"))


def test_copies_of_a_line_that_the_hash_keeps_out_are_trained_on(tmp_path: Path) -> None:
    line = next(line for n in range(9_999) if is_held_out(line := f"line {n}"))
    (tmp_path / "data.txt").write_text(prepared(f"{line}\n" * LEAST), encoding="utf-8")
    assert sum(map(len, load_split([(tmp_path / "data.txt", 1)]).train)) > LEAST * len(line) / 2


def test_cuts_that_end_alike_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    monkeypatch.setattr(texts, "is_held_out", hashed.append)
    for end in ("x", "x" * 900):
        hashed.clear()
        with pytest.raises(UnfitText, match="white space"):
            prepared("x" * 900 + " " * 50_000 + end)
        assert len(hashed) == len(set(hashed)) <= texts.CUTS
    hashed.clear()
    with pytest.raises(UnfitText):
        prepared("x" * MOST)
    assert len(hashed) == texts.CUTS
    assert max(map(len, hashed)) < texts.ENOUGH + texts.CUTS
