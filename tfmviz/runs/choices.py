"""A reader's choices for a run, and the command that trains it. Nothing else from a reader reaches the command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from tfmviz.positions.schemes import SCHEMES

Task = Literal["reverse", "copy", "sort", "add", "induction", "text"]
Norm = Literal["pre", "post"]
FeedForward = Literal["gelu", "none"]
Optimizer = Literal["adamw", "adam"]
Schedule = Literal["cosine", "noam"]

WORDS: dict[str, tuple[str, ...]] = {
    "task": get_args(Task),
    "positions": tuple(SCHEMES),
    "norm_position": get_args(Norm),
    "feed_forward": get_args(FeedForward),
    "optimizer": get_args(Optimizer),
    "schedule": get_args(Schedule),
}
"""The words allowed for each choice."""

NUMBERS: dict[str, tuple[float, float]] = {
    "layers": (1, 3),
    "heads": (1, 8),
    "width": (16, 128),
    "learning_rate": (1e-5, 1.0),
    "warmup": (1, 1000),
    "smoothing": (0.0, 0.5),
    "dropout": (0.0, 0.5),
    "steps": (1, 4000),
    "seed": (0, 9999),
}
"""Bounds: a run takes at most minutes and a few hundred megabytes."""

LONGEST_ANSWER, WINDOW = 16, 64
"""Context of a task and of a language model, in tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """The settings of a run; see `tfmviz.training.options`.

    Attributes:
        task: "text" is a language model of the reader's own text.

    Raises:
        ValueError: a value is not allowed.
    """

    task: Task = "reverse"
    layers: int = 1
    heads: int = 4
    width: int = 64
    positions: str = "learned"
    norm_position: Norm = "pre"
    feed_forward: FeedForward = "gelu"
    optimizer: Optimizer = "adamw"
    schedule: Schedule = "cosine"
    learning_rate: float = 2e-3
    warmup: int = 100
    smoothing: float = 0.0
    dropout: float = 0.0
    steps: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            if getattr(self, name) not in words:
                raise ValueError(f"{name} is {getattr(self, name)!r}, but must be one of {', '.join(words)}.")
        for field in fields(self):
            if field.name in NUMBERS:
                _check_number(field.name, getattr(self, field.name), whole=field.type == "int")
        if self.width % (2 * self.heads):
            raise ValueError(f"A width of {self.width} cannot be shared by {self.heads} heads in even parts.")

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Choices:
        """The choices in a file. Raises ValueError if they are invalid."""
        try:
            return cls(**found)
        except TypeError as error:
            raise ValueError(f"These are no settings of a run ({error}).") from error

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_language_model(self) -> bool:
        """True if the model continues a text, False if it answers questions."""
        return self.task in ("induction", "text")

    @property
    def save_every(self) -> int:
        return max(1, self.steps // 20)

    def differing(self, other: Choices) -> dict[str, tuple[Any, Any]]:
        """Differing settings by name: this run's and the other's."""
        mine, theirs = self.to_dict(), other.to_dict()
        return {name: (mine[name], theirs[name]) for name in mine if mine[name] != theirs[name]}

    def command(self, data: tuple[str, ...] = ()) -> list[str]:
        """Arguments of `python -m tfmviz.training`, in the run's folder.

        Args:
            data: a language model's text files there, by names of ours.
        """
        options = self.to_dict() | {
            "embedding_scale": "one" if self.is_language_model else "sqrt_d_model",
            "save_every": self.save_every,
            "snapshots": 24,
            "out": "model",
        }
        del options["task"]
        arguments = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        return [*self._course(data), *arguments]

    def _course(self, data: tuple[str, ...]) -> list[str]:
        if not self.is_language_model:
            size = "3" if self.task == "add" else "8"
            return ["task", self.task, "--size", size, "--context", str(LONGEST_ANSWER), "--batch-size", "64"]
        repeated = "16" if self.task == "induction" else "0"
        batch = ["--context", str(WINDOW), "--batch-size", "32", "--repeated", repeated]
        return ["lm", "--data", *data, "--vocab-size", "257", *batch]


def _check_number(name: str, value: object, *, whole: bool) -> None:
    least, most = NUMBERS[name]
    kinds = int if whole else (int, float)
    if (
        isinstance(value, bool)
        or not isinstance(value, kinds)
        or not math.isfinite(value)
        or not least <= value <= most
    ):
        number = "a whole number" if whole else "a number"
        raise ValueError(f"{name} is {value!r}, but must be {number} from {least:g} to {most:g}.")
