"""Probabilities from counts, with smoothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tfmviz.counting.grams import Grams, after, along, count
from tfmviz.counting.kneser_ney import NGramModel, smoothed
from tfmviz.counting.words import MARK, encoded, stream_of

Array = np.ndarray

LONGEST = 7
"""The longest n-grams counted."""

Method = Literal["none", "add-δ", "back-off", "interpolation", "Kneser–Ney"]


@dataclass(frozen=True, slots=True)
class Smoothing:
    """A way to turn counts into probabilities.

    Attributes:
        delta: for "add-δ", added to every count; above 0.
        share: for "interpolation", λ, between 0 and 1.
    """

    method: Method
    delta: float = 0.1
    share: float = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A text and its counts.

    Attributes:
        lines: its sentences.
        stream: (tokens,), the sentences as indices, with a `MARK` before, between and after them.
        grams: of 1 to `LONGEST` tokens.
        models: Kneser-Ney, for each n.
    """

    lines: tuple[str, ...]
    stream: Array
    grams: tuple[Grams, ...]
    models: tuple[NGramModel, ...]
    numbers: dict[str, int]
    vocabulary: tuple[str, ...] = field(default=())

    @property
    def vocab_size(self) -> int:
        return len(self.numbers)

    def after(self, context: Sequence[int]) -> Array:
        """c(context w) for every word w: (vocab,)."""
        return after(self.grams, context, vocab_size=self.vocab_size)

    def longest_known(self, context: Sequence[int]) -> tuple[int, ...]:
        """The longest suffix of a context that something followed in the text."""
        ends = (tuple(context[i:]) for i in range(len(context)))
        return next((end for end in ends if self.after(end).any()), ())

    def distribution(self, history: Sequence[int], smoothing: Smoothing, *, n: int) -> Array:
        """P(w | the last n - 1 words of the history) for every word w, summing to 1: (vocab,).

        Without smoothing, all are NaN (0/0) after a context that never occurred.
        """
        context = context_of(history, n)
        match smoothing.method:
            case "none":
                return _shares(self.after(context))
            case "add-δ":
                added = self.after(context) + smoothing.delta
                return added / added.sum()
            case "back-off":
                return _shares(self.after(self.longest_known(context)))
            case "interpolation":
                return self._interpolated(context, smoothing.share)
            case "Kneser–Ney":
                return self.models[n - 1].distribution(context)

    def _interpolated(self, context: Sequence[int], share: float) -> Array:
        """P(w | h) = λ c(h w) / c(h) + (1 - λ) P(w | h without its first word), ending with 1 / V."""
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        for length in range(len(context) + 1):
            counts = self.after(context[len(context) - length :])
            if counts.any():
                p = share * counts / counts.sum() + (1 - share) * p
        return p

    def occurrences(self, words: Sequence[int], most: int) -> Array:
        """The first `most` positions at which a sequence of words begins in the stream."""
        n = len(self.stream) - len(words) + 1
        fits = np.ones(max(n, 0), dtype=bool)
        for shift, word in enumerate(words):
            fits &= self.stream[shift : shift + n] == word
        return np.flatnonzero(fits)[:most]


def context_of(history: Sequence[int], n: int) -> tuple[int, ...]:
    """The last n - 1 words of a history, or fewer."""
    return tuple(history[max(len(history) - n + 1, 0) :])


def counted(lines: Sequence[str]) -> Counted:
    stream, numbers = stream_of(lines)
    grams = count(stream, vocab_size=len(numbers), n=LONGEST, mark=MARK)
    models = smoothed(grams, vocab_size=len(numbers))
    return Counted(tuple(lines), stream, grams, models, numbers, tuple(numbers))


def _shares(counts: Array) -> Array:
    total = counts.sum()
    return counts / total if total else np.full(len(counts), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Counts along a held-out text.

    Attributes:
        counts, totals: c(h w) and c(h): (n, tokens).
        full: whether h has n - 1 tokens: (n, tokens).
        kneser_ney: p(w | h) of the Kneser-Ney models: (n, tokens).
    """

    counts: Array
    totals: Array
    full: Array
    kneser_ney: Array
    vocab_size: int

    def never_seen(self) -> Array:
        """The fraction of n-grams that the counted text lacks: (n,)."""
        return np.array([float((c[f] == 0).mean()) for c, f in zip(self.counts, self.full, strict=True)])

    def probabilities(self, smoothing: Smoothing) -> Array:
        """P(w | h) for every n and token; NaN for 0/0: (n, tokens)."""
        match smoothing.method:
            case "none":
                with np.errstate(invalid="ignore"):
                    return self.counts / self.totals
            case "add-δ":
                return (self.counts + smoothing.delta) / (self.totals + smoothing.delta * self.vocab_size)
            case "back-off" | "interpolation":
                return self._step_by_step(1.0 if smoothing.method == "back-off" else smoothing.share)
            case "Kneser–Ney":
                return self.kneser_ney

    def _step_by_step(self, share: float) -> Array:
        p = np.full(self.counts.shape[1], 1 / self.vocab_size)
        found = []
        for counts, totals, full in zip(self.counts, self.totals, self.full, strict=True):
            known = full & (totals > 0)
            p = np.where(known, share * counts / totals.clip(min=1) + (1 - share) * p, p)
            found.append(p)
        return np.array(found)

    def perplexity(self, smoothing: Smoothing) -> Array:
        """exp of the mean of -log P(w | h), for every n: (n,). Infinite if a word gets 0 or 0/0."""
        with np.errstate(divide="ignore"):
            return np.exp(-np.log(np.nan_to_num(self.probabilities(smoothing), nan=0.0)).mean(axis=1))


def held_out(text: Counted, lines: Sequence[str]) -> HeldOut:
    stream = encoded(lines, text.numbers)
    counts, totals, full = along(text.grams, stream, vocab_size=text.vocab_size, mark=MARK)
    kneser_ney = np.array([model.probabilities(stream)[1:] for model in text.models])
    return HeldOut(counts, totals, full, kneser_ney, text.vocab_size)
