"""What cannot be trained is said in one sentence."""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.training.results import assert_one_sentence_on
from tests.training.runs import refused, run, words
from tests.training.toys import SENTENCES, write_lines
from tfmviz.text.corpora import is_held_out
from tfmviz.training import __main__ as command


def unusable_source(kind: str, folder: Path) -> Path | str:
    path = folder / "source.txt"
    match kind:
        case "a device":
            path = Path(os.devnull)
        case "an absurd number of repetitions":
            return f"{write_lines(path, SENTENCES)}:{10**12}"
        case "more repetitions than fit into a number of the machine":
            return f"{write_lines(path, SENTENCES)}:{10**30}"
        case "an empty folder":
            path = folder / "source"
            path.mkdir()
        case "an empty file":
            path.touch()
        case "a file that is not UTF-8":
            path.write_bytes(b"caf\xe9\n" * 1000)
        case "nothing to hold out":
            write_lines(path, ["The same sentence."] * 1000)
    return path


SOURCES = (
    "a missing file",
    "an empty folder",
    "an empty file",
    "a file that is not UTF-8",
    "nothing to hold out",
    "a device",
    "an absurd number of repetitions",
    "more repetitions than fit into a number of the machine",
)


@each("kind", SOURCES)
def test_a_source_that_cannot_be_read_ends_in_one_sentence(corpus: Path, tmp_path: Path, kind: str) -> None:
    refused("lm", corpus, tmp_path / "out", data=unusable_source(kind, tmp_path))
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


@each(
    "changes",
    [
        {"batch_size": 2003},
        {"repeated": 3},
        {"context": 307, "batch_size": 2},
        {"context": 10**6},
        {"batch_size": 10**9},
        {"vocab_size": 2 * 10**9},
        {"about": "no such file.md"},
        {"device": "abacus"},
        {"start_from": "no such folder"},
        {"architecture": "rnn", "dropout": 0.1},
        {"architecture": "window", "training_mask": "none"},
    ],
)
def test_what_does_not_fit_is_refused_at_once(corpus: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    refused("lm", corpus, tmp_path / "out", **changes)
    assert not (tmp_path / "out").exists()


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


@pytest.mark.filterwarnings("ignore:'tfmviz.training.__main__' found in sys.modules")
def test_the_module_ends_with_the_exit_code(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = words("lm", corpus, tmp_path / "out", data=tmp_path / "missing.txt")
    monkeypatch.setattr(sys, "argv", ["tfmviz.training", *options])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tfmviz.training", run_name="__main__")
    assert ended.value.code == 1
    assert_one_sentence_on(capsys.readouterr().err)


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
    ],
)
def test_each_course_refuses(course: str, changes: dict[str, Any], message: str, corpus: Path, tmp_path: Path) -> None:
    assert message in refused(course, corpus, tmp_path / "toy", **changes)
