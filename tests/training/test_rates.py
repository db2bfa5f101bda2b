"""The learning rate of a run is changed on the way: at once, for good, and as the terminal would do it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tfmviz.training.__main__ as command
from tests.cases import each
from tests.training.runs import assert_same_weights, broken_off_after, card_of, copy_of, read_log, refused, run
from tests.training.toys import SETTINGS
from tfmviz.schedule import cosine
from tfmviz.training.loop import StepRecord
from tfmviz.training.rates import Rates
from tfmviz.training.wishes import want_rate

RATE = 0.0173


@contextmanager
def asked_after(step: int, out: Path) -> Iterator[None]:
    """Somebody asks the run inside the block for another rate, once this update is done."""
    train = vars(command)["train"]  # or what `broken_off_after` has put in its place

    def disturbed(*args: Any, **kwargs: Any) -> Iterator[StepRecord]:
        for record in train(*args, **kwargs):
            yield record
            if record.step == step:
                want_rate(out, RATE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "train", disturbed)
        yield


@pytest.fixture(scope="module")
def by_option(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose rate was to change after four updates from the beginning."""
    out = tmp_path_factory.mktemp("by-option") / "toy"
    assert run("lm", corpus, out, dropout=0.1, change_rate=f"4:{RATE}") == 0
    return out


def assert_same_run(out: Path, other: Path) -> None:
    """Bit for bit in its weights, and in what it logged of every update."""
    assert_same_weights(out, other)
    for column in ("step", "loss", "grad_norm", "learning_rate", "highest_rate"):
        assert [e.get(column) for e in read_log(out)] == [e.get(column) for e in read_log(other)], column


def test_a_rate_that_is_asked_for_holds_as_if_it_was_an_option(corpus: Path, by_option: Path, tmp_path: Path) -> None:
    out = tmp_path / "toy"
    with asked_after(3, out):
        assert run("lm", corpus, out, dropout=0.1) == 0
    assert_same_run(out, by_option)
    log = read_log(out)
    assert [e["step"] for e in log if "highest_rate" in e] == [4]
    shape = [cosine(step, warmup=0, steps=8) for step in range(8)]
    assert [e["learning_rate"] for e in log] == pytest.approx([f * (2e-3, RATE)[n > 3] for n, f in enumerate(shape)])
    assert f"| changed on the way | `--change-rate 4:{RATE}` |" in card_of(out)


def test_a_run_that_died_changes_its_rate_at_the_same_update(corpus: Path, by_option: Path, tmp_path: Path) -> None:
    """It dies after the fifth, the first with the new rate; its last checkpoint is from after the third."""
    out = tmp_path / "toy"
    with broken_off_after(4), asked_after(3, out):
        run("lm", corpus, out, dropout=0.1)
    assert read_log(out)[-1]["highest_rate"] == RATE
    assert run("lm", corpus, out, dropout=0.1) == 0
    assert_same_run(out, by_option)


def test_what_is_asked_for_meanwhile_replaces_what_was_to_come(corpus: Path, stopped: Path, tmp_path: Path) -> None:
    """The folder holds a change at the fifth update; the checkpoint is from after the third."""
    out = copy_of(stopped, tmp_path / "toy")
    (out / "rates.json").write_text(f"[[4, {RATE}]]", encoding="utf-8")
    want_rate(out, 0.5)
    assert run("lm", corpus, out) == 0
    assert {e["step"]: e["highest_rate"] for e in read_log(out) if "highest_rate" in e} == {3: 0.5}


@each("text", ["", "fast", "nan", "inf", "-0.1", "0", "0.1 0.2", "\x00", "é" * 9])
def test_what_is_no_rate_changes_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "rate").write_bytes(text.encode("latin-1"))
    found = Rates(tmp_path, SETTINGS)
    assert [found.at(step) for step in range(7)] == [SETTINGS.learning_rate_at(step) for step in range(7)]
    assert not (tmp_path / "rates.json").exists()


@each("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_nobody_can_ask_for_what_is_no_rate(rate: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="positive number"):
        want_rate(tmp_path, rate)
    assert list(tmp_path.iterdir()) == []


@each("text", ["", "[]", "{}", "[1]", '[["a", 1]]', "[[1, 2, 3]]"])
def test_a_damaged_list_of_changes_is_named(text: str, corpus: Path, stopped: Path, tmp_path: Path) -> None:
    out = copy_of(stopped, tmp_path / "toy")
    (out / "rates.json").write_text(text, encoding="utf-8")
    assert "rates.json does not hold changes of a learning rate" in refused("lm", corpus, out)


@each("text", ["0.1", "a:0.1", "-1:0.1", "3:", "3:0", "3:nan", "3:0.1:4"])
def test_an_option_that_is_no_change_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("lm", tmp_path, tmp_path / "toy", change_rate=text)
