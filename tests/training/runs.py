"""Small runs of the training command, both complete and interrupted ones, and what they leave."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import tfmviz.training.__main__ as command
from tfmviz.training.loop import StepRecord, train

ROOT = Path(__file__).parents[2]

COMMON: dict[str, Any] = {"layers": 1, "heads": 2, "width": 20, "seed": 5, "steps": 8, "save_every": 3}
COMMON |= {"device": "cpu", "precision": "float32"}

COURSES: dict[str, dict[str, Any]] = {
    "lm": {"vocab_size": 283, "context": 11, "batch_size": 3, "repeated": 1},
    "mlm": {"vocab_size": 271, "context": 11, "batch_tokens": 64},
    "spans": {"vocab_size": 271, "context": 11, "batch_tokens": 64},
    "translate": {"vocab_size": 283, "context": 37, "batch_tokens": 256},
    "task": {"size": 4, "context": 7, "batch_size": 4},
    "label": {"vocab_size": 283, "context": 11, "batch_size": 3},
    "add": {"size": 2, "context": 7, "batch_size": 4},
    "induction": {"context": 17, "batch_size": 4},
}
TRANSFORMERS = [course for course in COURSES if course != "label"]
SUBCOMMANDS = {"task": ("task", "reverse"), "add": ("task", "add"), "induction": ("task", "induction")}
DATA = {"lm": "lines.txt", "mlm": "lines.txt", "spans": "lines.txt", "translate": "pairs.tsv", "label": "pairs.tsv"}


def words(course: str, corpus: Path, out: Path, **changes: Any) -> list[str]:
    data = {"data": corpus / DATA[course]} if course in DATA else {}
    options = data | {"out": out} | COMMON | COURSES[course] | changes
    pairs = ((f"--{name.replace('_', '-')}", str(value)) for name, value in options.items())
    return [*SUBCOMMANDS.get(course, (course,)), *(word for pair in pairs for word in pair)]


def run(course: str, corpus: Path, out: Path, **changes: Any) -> int:
    """Runs the command in this process. Returns its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["tfmviz.training", *words(course, corpus, out, **changes)])
        return command.main()


def refused(course: str, corpus: Path, out: Path, **changes: Any) -> str:
    with redirect_stderr(io.StringIO()) as said:
        assert run(course, corpus, out, **changes) == 1
    assert_one_sentence_on(said.getvalue())
    return said.getvalue()


def run_apart(prologue: str, options: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own, after some lines of Python."""
    program = f"import os, sys\n{prologue}\nfrom tfmviz.training.__main__ import main\nsys.exit(main())"
    return _ended(["-c", program, *options])


def run_in_two(options: list[str]) -> subprocess.CompletedProcess[str]:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return _ended([*torchrun, "-m", "tfmviz.training", *options])


def _ended(options: list[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@contextmanager
def broken_off_after(step: int) -> Iterator[None]:
    """Interrupts the training inside the block after this step, as Ctrl-C does."""

    def interrupted(*args: Any, **kwargs: Any) -> Iterator[StepRecord]:
        for record in train(*args, **kwargs):
            yield record
            if record.step == step:
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "train", interrupted)
        with pytest.raises(KeyboardInterrupt):
            yield


def read_log(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def logged_losses(out: Path) -> list[float]:
    """The loss of every step, of which none is missing or logged twice."""
    entries = read_log(out)
    assert [entry["step"] for entry in entries] == list(range(len(entries)))
    return [entry["loss"] for entry in entries]


def copy_of(folder: Path, target: Path) -> Path:
    return shutil.copytree(folder, target)


def card_of(out: Path) -> str:
    return (out / "CARD.md").read_text(encoding="utf-8")


def assert_same_weights(out: Path, other: Path) -> None:
    ours, theirs = (load_file(folder / "model.safetensors") for folder in (out, other))
    assert [name for name in theirs if not torch.equal(ours[name], theirs[name])] == []


def assert_one_sentence_on(stderr: str, *parts: str) -> None:
    """The command has ended with one sentence, which says all this."""
    assert stderr.startswith("Cannot train: ")
    assert stderr.count("\n") == 1
    assert [part for part in parts if part not in stderr] == []
