"""Batches of texts in which every token is labelled with its language."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfmviz.text.mixed import Texts, drawn, joined_parts, languages_of
from tfmviz.text.pairs import Pair
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.data import Batch


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelBatches:
    """Texts of `text.mixed`, drawn anew for every step.

    A batch's texts are cut to the same random number of tokens, so that none is padded.

    Attributes:
        pairs: their two columns are the languages.
        longest: maximum tokens of a text.
    """

    pairs: Sequence[Pair]
    tokenizer: Tokenizer
    texts: Texts
    batch_size: int
    longest: int
    seed: int = 0

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        return tuple(zip(*self.pairs, strict=True))

    @cached_property
    def sizes(self) -> np.ndarray:
        """Bytes of each entry of the vocabulary: (vocab,)."""
        return np.array([len(self.tokenizer.bytes_of(index)) for index in range(self.tokenizer.vocab_size)])

    @property
    def settings(self) -> dict[str, int | str]:
        lines = "\n".join("\t".join(pair) for pair in self.pairs)
        return {
            "text": hashlib.blake2b(lines.encode(), digest_size=8).hexdigest(),
            "texts": self.texts,
            "batch_size": self.batch_size,
            "length": self.longest,
            "batch_seed": self.seed,
        }

    def batch(self, step: int) -> Batch:
        rng = np.random.default_rng((self.seed, step))
        length = int(rng.integers(1, self.longest + 1))
        texts = [self.text(rng, n_words=length) for _ in range(self.batch_size)]  # a word has at least one token
        rows = [np.array(ids) for ids in self.tokenizer.encode_batch([joined_parts(parts) for parts in texts])]
        labels = [languages_of(parts, self.sizes[ids]) for parts, ids in zip(texts, rows, strict=True)]
        ids, targets = (np.stack([row[:length] for row in side]) for side in (rows, labels))  # (batch, len) each
        return {"ids": ids}, targets

    def text(self, rng: np.random.Generator, *, n_words: int) -> list[tuple[int, str]]:
        parts = drawn(self.columns, rng, texts=self.texts, n_words=n_words)
        return [(language, self.tokenizer.spelled(words)) for language, words in parts]
