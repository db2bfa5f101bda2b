"""Batches of separate sequences: sentences, pairs, tasks. Each batch depends only on the seed and the step.

Sequences of similar length share a batch, padded. In all classes `budget` is the most tokens of a batch, padding
included, and texts come without special tokens.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfmviz.constants import MASK
from tfmviz.text.corpora import CorpusError
from tfmviz.text.corruption import left_out, masked, spans
from tfmviz.text.tasks import ANSWERS, questions, repeated_random
from tfmviz.text.tokenizer import END, SPANS, Tokenizer
from tfmviz.training.data import Batch
from tfmviz.training.losses import IGNORED

Ids = Sequence[int]


@dataclass(frozen=True, eq=False)
class Buckets:
    """Sorts sequences into batches of similar length.

    Each epoch redraws the order of the batches and the grouping of equally long sequences.

    Attributes:
        lengths: (sequence, side), tokens on each side: two for pairs.

    Raises:
        CorpusError: there are not enough sequences for one batch.
    """

    lengths: np.ndarray
    budget: int
    seed: int

    def __post_init__(self) -> None:
        if (total := int(self.lengths.sum())) < self.budget:
            raise CorpusError(f"The text has {total} tokens; one batch takes {self.budget}.")
        if (longest := int(self.lengths.sum(axis=1).max())) > self.budget:
            raise CorpusError(f"The longest text has {longest} tokens; one batch takes {self.budget}.")

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """Begin and end of each batch in the sorted sequences."""
        bounds, first, widest = [], 0, np.zeros(self.lengths.shape[1], dtype=np.int64)
        for index, lengths in enumerate(self.lengths[np.lexsort(self.lengths.T[::-1])]):
            widened = np.maximum(widest, lengths)
            if (index + 1 - first) * widened.sum() > self.budget:
                bounds.append((first, index))
                first, widened = index, lengths
            widest = widened
        return [*bounds, (first, len(self.lengths))]

    def members(self, step: int) -> np.ndarray:
        epoch, index = divmod(step, len(self.bounds))
        rng = np.random.default_rng((self.seed, epoch))
        first, last = self.bounds[rng.permutation(len(self.bounds))[index]]
        shuffled = rng.permutation(len(self.lengths))
        return shuffled[np.lexsort(self.lengths[shuffled].T[::-1])[first:last]]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairBatches:
    """Pairs for an encoder-decoder with teacher forcing: the decoder reads END w_1 … w_n and learns to write w_1 … w_n
    END.
    """

    pairs: Sequence[tuple[Ids, Ids]]
    budget: int
    seed: int = 0

    @cached_property
    def buckets(self) -> Buckets:
        return Buckets(np.array([(len(src), len(tgt) + 1) for src, tgt in self.pairs]), self.budget, self.seed)

    @property
    def steps_per_epoch(self) -> int:
        return len(self.buckets.bounds)

    @property
    def settings(self) -> dict[str, int | str]:
        both = (side for pair in self.pairs for side in pair)
        return {"text": digest(both), "budget": self.budget, "batch_seed": self.seed}

    def batch(self, step: int) -> Batch:
        return pair_batch([self.pairs[i] for i in self.buckets.members(step)])


def pair_batch(pairs: Sequence[tuple[Ids, Ids]]) -> Batch:
    sources = [src for src, _ in pairs]
    inputs = {
        "src": padded(sources, fill=END),
        "tgt": padded([[END, *tgt] for _, tgt in pairs], fill=END),
        "src_lengths": lengths_of(sources),
    }
    return inputs, padded([[*tgt, END] for _, tgt in pairs], fill=IGNORED)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangedTexts(ABC):
    """Texts corrupted anew at every step."""

    pieces: Sequence[Ids]
    budget: int
    seed: int = 0

    @abstractmethod
    def lengths(self) -> np.ndarray:
        """Tokens of each padded side: (text, side)."""

    @abstractmethod
    def changed(self, rows: Sequence[Ids], rng: np.random.Generator) -> Batch: ...

    @cached_property
    def buckets(self) -> Buckets:
        return Buckets(self.lengths(), self.budget, self.seed)

    @property
    def steps_per_epoch(self) -> int:
        return len(self.buckets.bounds)

    @property
    def settings(self) -> dict[str, int | str]:
        return {"text": digest(self.pieces), "budget": self.budget, "batch_seed": self.seed}

    def batch(self, step: int) -> Batch:
        rows = [self.pieces[i] for i in self.buckets.members(step)]
        return self.changed(rows, np.random.default_rng((self.seed, 1, step)))


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedBatches(ChangedTexts):
    """Sentences with some words hidden, for an encoder-only model.

    Attributes:
        vocab_size: for random words.
    """

    vocab_size: int

    def lengths(self) -> np.ndarray:
        return np.array([[len(piece)] for piece in self.pieces])

    def changed(self, rows: Sequence[Ids], rng: np.random.Generator) -> Batch:
        return mask_words(rows, rng, vocab_size=self.vocab_size)


def mask_words(rows: Sequence[Ids], rng: np.random.Generator, *, vocab_size: int) -> Batch:
    """Hides words as BERT does; see `text.corruption.masked`."""
    ids, lengths = padded(rows, fill=END), lengths_of(rows)
    is_token = np.arange(ids.shape[1]) < lengths[:, None]
    read, asked = masked(ids, is_token, rng, mask=MASK, vocab_size=vocab_size)
    return {"ids": read, "lengths": lengths}, np.where(asked, ids, IGNORED)


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanBatches(ChangedTexts):
    """Texts of at least two tokens with some spans hidden, for an encoder-decoder."""

    def lengths(self) -> np.ndarray:
        """The number of hidden tokens depends only on the text's length."""
        sides = {n: spans_left_out(range(n), np.random.default_rng(0)) for n in {len(piece) for piece in self.pieces}}
        lengths = {n: (len(reads), len(writes) + 1) for n, (reads, writes) in sides.items()}
        return np.array([lengths[len(piece)] for piece in self.pieces])

    def changed(self, rows: Sequence[Ids], rng: np.random.Generator) -> Batch:
        return leave_out_spans(rows, rng)


def leave_out_spans(rows: Sequence[Ids], rng: np.random.Generator) -> Batch:
    """Hides spans as T5 does (Raffel et al. 2020, section 3.3.4): a sentinel replaces each, and the decoder writes them
    after their sentinels.
    """
    return pair_batch([spans_left_out(row, rng) for row in rows])


def spans_left_out(row: Ids, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    hidden = spans(len(row), rng)
    return left_out(row, hidden, marks=range(SPANS, SPANS + len(hidden) + 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskBatches:
    """Questions and answers of `text.tasks`, drawn anew for every step, without those held out.

    Attributes:
        size: maximum letters, or maximum digits of each number.
    """

    task: str
    tokenizer: Tokenizer
    size: int
    batch_size: int
    seed: int = 0

    @property
    def settings(self) -> dict[str, int | str]:
        return {"task": self.task, "size": self.size, "batch_size": self.batch_size, "batch_seed": self.seed}

    def batch(self, step: int) -> Batch:
        rng = np.random.default_rng((self.seed, step))
        asked = questions(self.task, rng, n=self.batch_size, size=self.size, held_out=False)
        return pair_batch(answered(self.task, asked, self.tokenizer))


def answered(task: str, asked: Sequence[str], tokenizer: Tokenizer) -> list[tuple[Ids, Ids]]:
    answers = [ANSWERS[task](question) for question in asked]
    return list(zip(tokenizer.encode_batch(asked), tokenizer.encode_batch(answers), strict=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedBatches:
    """Rows of `text.tasks.repeated_random`, which teach a model to look back."""

    batch_size: int
    length: int
    vocab_size: int
    seed: int = 0

    @property
    def settings(self) -> dict[str, int | str]:
        return {"task": "induction", "batch_size": self.batch_size, "length": self.length, "batch_seed": self.seed}

    def batch(self, step: int) -> Batch:
        rng = np.random.default_rng((self.seed, step))
        rows = [
            repeated_random(rng, length=self.length + 1, vocab_size=self.vocab_size) for _ in range(self.batch_size)
        ]
        windows = np.stack(rows)  # (batch, len + 1)
        return {"ids": windows[:, :-1]}, windows[:, 1:]


def padded(rows: Sequence[Ids], *, fill: int) -> np.ndarray:
    """The rows, padded at the end: (batch, longest), int64."""
    array = np.full((len(rows), max(len(row) for row in rows)), fill, dtype=np.int64)
    for index, row in enumerate(rows):
        array[index, : len(row)] = row
    return array


def lengths_of(rows: Sequence[Ids]) -> np.ndarray:
    """(batch,), int64."""
    return np.array([len(row) for row in rows], dtype=np.int64)


def digest(sequences: Iterable[Ids]) -> str:
    """A hash of all sequences and their ends."""
    digester = hashlib.blake2b(digest_size=8)
    for sequence in sequences:
        digester.update(np.array([*sequence, IGNORED], dtype=np.int32).tobytes())
    return digester.hexdigest()
