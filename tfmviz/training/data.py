"""Training data in batches, and windows cut from one long text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from tfmviz.text.corpora import CorpusError, is_held_out, read_documents
from tfmviz.text.tasks import repeated_random
from tfmviz.text.tokenizer import END, Tokenizer

Batch = tuple[dict[str, np.ndarray], np.ndarray]
"""The model's arguments by name, and the target tokens; (batch, len), int64."""

MAX_CHARACTERS = 4 * 10**9
"""Most characters of training text, repetitions included: about a gigabyte per 10⁹."""


class Batches(Protocol):
    @property
    def settings(self) -> dict[str, int | str]:
        """Everything that determines the batches, the text by its hash."""
        ...

    def batch(self, step: int) -> Batch:
        """The batch of this step, from 0, which depends only on the seed and the step."""
        ...


@dataclass(frozen=True, slots=True)
class Split:
    train: tuple[str, ...]
    held_out: tuple[str, ...]


def load_split(sources: Iterable[tuple[Path, int]]) -> Split:
    """Reads weighted sources.

    Args:
        sources: files or folders, each with a number of repetitions.

    Raises:
        CorpusError: a source cannot be read, or there is too little text or too much.
    """
    train: list[str] = []
    held_out: list[str] = []
    n_characters = 0
    for path, weight in sources:
        documents = list(read_documents(path))
        held_out += [document for document in documents if is_held_out(document)]
        to_train_on = [document for document in documents if not is_held_out(document)]
        n_characters += weight * sum(map(len, to_train_on))
        if n_characters > MAX_CHARACTERS:
            raise CorpusError(
                f"With {path}, read {weight:,} times, there are {n_characters:,} characters of training text; "
                f"{MAX_CHARACTERS:,} are allowed."
            )
        train += to_train_on * weight
    if not train or not held_out:
        raise CorpusError(f"{len(train) + len(held_out)} documents are too few to train on some and hold out others.")
    return Split(tuple(train), tuple(held_out))


def pack(documents: Iterable[str], tokenizer: Tokenizer, *, seed: int) -> np.ndarray:
    """Joins all documents in a random order, each with an end-of-text token: (tokens,), int32."""
    documents = list(documents)
    order = np.random.default_rng(seed).permutation(len(documents))
    pieces: list[np.ndarray] = []
    for first in range(0, len(order), 10_000):  # in parts: Python's integers take nine times the memory of numpy's
        encoded = tokenizer.encode_batch([documents[i] for i in order[first : first + 10_000]])
        pieces += [np.array([*ids, END], dtype=np.int32) for ids in encoded]
    return np.concatenate(pieces)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBatches:
    """Cuts a packed stream into batches.

    Every epoch cuts the stream at a new offset and visits every window at most once, in a new order. It omits the few
    that do not fill a batch.

    Attributes:
        stream: (tokens,), from `pack`.
        batch_size: windows per step.
        length: tokens per window.
        vocab_size: for random rows.
        n_repeated: rows of each batch with repeated random tokens, which teach the model to look back.

    Raises:
        CorpusError: the stream is shorter than one batch.
    """

    stream: np.ndarray
    batch_size: int
    length: int
    vocab_size: int
    n_repeated: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.n_repeated < self.batch_size:
            raise ValueError(f"{self.n_repeated} of {self.batch_size} rows cannot be random.")
        if self.steps_per_epoch < 1:
            needed = (self.batch_size - self.n_repeated + 1) * self.length + 1
            raise CorpusError(f"The text has {len(self.stream)} tokens; one batch needs {needed}.")

    @property
    def steps_per_epoch(self) -> int:
        return self.n_windows // (self.batch_size - self.n_repeated)

    @property
    def n_windows(self) -> int:
        return max(len(self.stream) - 1 - self.length, 0) // self.length

    @property
    def settings(self) -> dict[str, int | str]:
        return {
            "text": hashlib.blake2b(self.stream.tobytes(), digest_size=8).hexdigest(),
            "batch_size": self.batch_size,
            "length": self.length,
            "n_repeated": self.n_repeated,
            "batch_seed": self.seed,
        }

    def batch(self, step: int) -> Batch:
        epoch, index = divmod(step, self.steps_per_epoch)
        n_text = self.batch_size - self.n_repeated
        rng = np.random.default_rng((self.seed, epoch))
        offset = int(rng.integers(self.length))
        order = rng.permutation(self.n_windows)[index * n_text :][:n_text]
        rows = [self.stream[offset + w * self.length :][: self.length + 1] for w in order]
        rng = np.random.default_rng((self.seed, epoch, index))
        for _ in range(self.n_repeated):
            rows.append(repeated_random(rng, length=self.length + 1, vocab_size=self.vocab_size))
        windows = np.stack(rows).astype(np.int64)  # (batch, len + 1)
        return {"ids": windows[:, :-1]}, windows[:, 1:]


def windows(stream: np.ndarray, *, length: int, max_windows: int | None = None) -> list[Batch]:
    """Cuts a held-out stream into windows that do not overlap.

    Raises:
        CorpusError: the stream is shorter than one window.
    """
    n_windows = (len(stream) - 1) // length
    if n_windows < 1:
        raise CorpusError(f"The held-out text has {len(stream)} tokens; a context of {length} needs {length + 1}.")
    starts = length * np.arange(min(n_windows, max_windows or n_windows))
    rows = stream[starts[:, None] + np.arange(length + 1)].astype(np.int64)  # (window, len + 1)
    return [({"ids": part[:, :-1]}, part[:, 1:]) for part in np.split(rows, range(16, len(rows), 16))]
