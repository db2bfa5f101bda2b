"""What runs of the training command leave."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file


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
    """Two runs ended in the same model, bit for bit."""
    ours, theirs = (load_file(folder / "model.safetensors") for folder in (out, other))
    assert [name for name in theirs if not torch.equal(ours[name], theirs[name])] == []


def assert_one_sentence_on(stderr: str, *parts: str) -> None:
    """The command has ended with one sentence, which says all this."""
    assert stderr.startswith("Cannot train: ")
    assert stderr.count("\n") == 1
    assert [part for part in parts if part not in stderr] == []
