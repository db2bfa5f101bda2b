"""Incremental reading of growing texts, each token once, for all decoding."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from tfmviz.model.build import Earlier
from tfmviz.model.cache import Cache
from tfmviz.model.device import device_of
from tfmviz.model.reading_out import read_out
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, full_mask
from tfmviz.record.tap import NO_TAP, Tap, in_turn


class Reader(ABC):
    """Reads one text, or several of the same length as rows of a batch.

    Attributes:
        n_cached: tokens whose keys and values are cached.
        n_read: tokens that the last call read.

    Args:
        tap: sees new tokens only.
    """

    def __init__(self, model: DecoderOnly | EncoderDecoder | Earlier, tap: Tap) -> None:
        self.n_cached = self.n_read = 0
        self.device = device_of(model)
        self.context = model.config.max_len
        self._tap, self._cache = tap, Cache()

    @property
    def longest(self) -> int | None:
        """Maximum tokens of a text; None: unlimited."""
        return None

    @abstractmethod
    def read(self, texts: Tensor, *, last: int = 1) -> Tensor:
        """Reads the new ones of (row, len) tokens. Returns the logits of the `last` new tokens, (row, last, vocab)."""

    def keep(self, rows: Tensor) -> None:
        """rows: (new row,), indices of old rows, which may repeat."""
        self._cache.keep(rows)


class TextReader(Reader):
    """A language model. Of a text beyond its context it reads only the end, and all of that for every token."""

    def __init__(self, model: DecoderOnly, tap: Tap = NO_TAP) -> None:
        super().__init__(model, tap)
        self._model = model

    def read(self, texts: Tensor, *, last: int = 1) -> Tensor:
        if texts.shape[1] > self.context:  # every token is at a new position and must be read again
            self.n_cached, self.n_read = 0, self.context
            x = self._model.stream(texts[:, -self.context :], self._tap)
            return read_out(self._model, x, slice(-1, None), tap=self._tap)
        new = texts[:, self.n_cached :]
        x = self._model.stream(new, in_turn(self._tap, self._cache), past=self.n_cached)
        self.n_cached, self.n_read = texts.shape[1], new.shape[1]
        return read_out(self._model, x, slice(-last, None), tap=self._tap)


class WholeReader(Reader):
    """An earlier model, which rereads the end of the text for every token."""

    def __init__(self, model: Earlier, tap: Tap = NO_TAP) -> None:
        super().__init__(model, tap)
        self._model = model

    def read(self, texts: Tensor, *, last: int = 1) -> Tensor:
        self.n_read = min(texts.shape[1], self.context)
        return self._model(texts[:, -self.context :], self._tap)[:, -last:]


class TargetReader(Reader):
    """The decoder of an encoder-decoder. The encoder reads each source once."""

    def __init__(
        self,
        model: EncoderDecoder,
        src: Tensor,
        tap: Tap = NO_TAP,
        *,
        src_lengths: Tensor | None = None,
        at: int | None = None,
    ) -> None:
        """Reads the source.

        Args:
            src: (k_len,) or (row, k_len), at least one token each.
            src_lengths: (row,), number of tokens that count; None: all.
            at: the only position of the target at which the tap acts, read alone; None: all, and the encoder.
        """
        super().__init__(model, tap)
        self._model, self._at = model, at
        rows = torch.atleast_2d(src)
        self._memory = model.encode(rows, tap if at is None else NO_TAP, src_lengths=src_lengths)
        self._memory_mask = full_mask(rows[:, :1], rows, src_lengths)

    @property
    def longest(self) -> int:
        return self.context

    def read(self, texts: Tensor, *, last: int = 1) -> Tensor:
        if self._at is None:
            return self._read_on(texts, last=last)
        lengths = range(self.n_cached + 1, texts.shape[1] + 1)
        logits = torch.cat([self._read_on(texts[:, :length], last=1) for length in lengths], dim=1)
        self.n_read = len(lengths)
        return logits[:, -last:]

    def _read_on(self, texts: Tensor, *, last: int) -> Tensor:
        new, memory = texts[:, self.n_cached :], self._memory.expand(len(texts), -1, -1)
        tap = self._tap if self._at in (None, self.n_cached) else NO_TAP
        x = self._model.target_stream(
            new, memory, in_turn(tap, self._cache), memory_mask=self._memory_mask, past=self.n_cached
        )
        self._memory = self._memory[:, :0]  # its keys and values are in the cache now
        self.n_cached, self.n_read = texts.shape[1], new.shape[1]
        return read_out(self._model, x, slice(-last, None), tap=tap)
