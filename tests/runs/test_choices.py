"""Nothing that a reader chooses reaches the command unless it is one of the words and numbers that we allow."""

import dataclasses
import sys
from itertools import product
from typing import Any

import pytest

from tests.cases import each
from tfmviz.runs import choices as limits
from tfmviz.runs.choices import Choices
from tfmviz.training.courses import check_options
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
    """What the parser reads is what was chosen: no option is misspelt, and none is lost."""
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
