"""An n-gram model with back-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.counting.grams import Grams, context_number, count, numbers

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Order:
    """The n-grams of one length n; see `grams.Grams`.

    Attributes:
        keys: (gram,), sorted.
        above_discount: (gram,), max(c - D(c), 0) for its count c.
        total: (context,), the sum of c over all w that follow the context h.
        back_off: (context,), γ(h), the probability that the discounts free.
    """

    keys: Array
    above_discount: Array
    total: Array
    back_off: Array


@dataclass(frozen=True, slots=True)
class NGramModel:
    """Interpolated modified Kneser-Ney (Chen & Goodman 1999, section 3):

        p(w | h) = max(c(h w) - D(c), 0) / Σ_v c(h v) + γ(h) p(w | h without its first token)

    In the longest order c counts occurrences; in the others, the different tokens to the left. The shortest order backs
    off to 1 / V. If h never occurred, p(w | h) is that of the shorter context. The probabilities of all w sum to 1.
    Nothing precedes the boundary token that begins a sentence, so grams that begin with it keep their count.
    """

    orders: tuple[Order, ...]
    vocab_size: int

    def probabilities(self, stream: Array) -> Array:
        """The probability of each token of the stream given those before it: (tokens,), in (0, 1]."""
        words = stream.astype(np.int64)
        p = np.full(len(words), 1 / self.vocab_size)
        contexts = np.zeros(len(words) + 1, dtype=np.int64)  # at i: index of the n - 1 tokens from i on
        for n, order in enumerate(self.orders, start=1):
            contexts = contexts[: len(words) - n + 1]  # one per n-gram
            last = words[n - 1 :]
            known = contexts >= 0
            found = np.where(known, numbers(order.keys, contexts * self.vocab_size + last), -1)
            total = np.where(known, order.total[contexts], 0)
            seen = np.where(found >= 0, order.above_discount[found], 0.0)
            mixed = seen / total.clip(min=1) + order.back_off[contexts] * p[n - 1 :]
            p[n - 1 :] = np.where(total > 0, mixed, p[n - 1 :])
            contexts = found
        return p

    def distribution(self, context: Sequence[int]) -> Array:
        """The probability of every word after a context of at most n - 1 tokens: (vocab,)."""
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        keys = [order.keys for order in self.orders]
        for n in range(min(len(context), len(self.orders) - 1) + 1):
            number = context_number(keys, context[len(context) - n :], vocab_size=self.vocab_size)
            order = self.orders[n]
            if number < 0 or not order.total[number]:
                break  # nothing followed a longer context either
            begin, end = np.searchsorted(order.keys, [number * self.vocab_size, (number + 1) * self.vocab_size])
            p *= order.back_off[number]
            p[order.keys[begin:end] - number * self.vocab_size] += order.above_discount[begin:end] / order.total[number]
        return p

    def cross_entropy(self, stream: Array) -> float:
        """Mean over the stream, in nats per token."""
        return float(-np.log(self.probabilities(stream)).mean())


def fit(stream: Array, *, vocab_size: int, n: int = 5) -> NGramModel:
    """Counts the grams of 1 to `n` tokens in a text.

    Args:
        stream: (tokens,), the training text. Its boundary tokens count as tokens.
    """
    return smoothed(count(stream, vocab_size=vocab_size, n=n), vocab_size=vocab_size)[-1]


def smoothed(grams: Sequence[Grams], *, vocab_size: int) -> tuple[NGramModel, ...]:
    """The models of 1-grams, 2-grams …, which share their shorter orders."""
    shorter: list[Order] = []
    models = []
    for n, order in enumerate(grams):
        models.append(NGramModel((*shorter, _order(order, order.counts, vocab_size)), vocab_size))
        if n + 1 < len(grams):  # counts the different tokens before it, not its occurrences
            left = np.bincount(grams[n + 1].suffixes, minlength=len(order.keys))
            shorter.append(_order(order, np.where(order.marked, order.counts, left), vocab_size))
    return tuple(models)


def _order(grams: Grams, counts: Array, vocab_size: int) -> Order:
    discount = discounts(counts)[counts.clip(max=3)]
    contexts, n_contexts = grams.keys // vocab_size, len(grams.totals)
    total = grams.totals
    if counts is not grams.counts:
        total = np.bincount(contexts, weights=counts, minlength=n_contexts).astype(np.int32)
    freed = np.bincount(contexts, weights=discount, minlength=n_contexts)
    return Order(grams.keys, counts - discount, total, freed / total.clip(min=1))


def discounts(counts: Array) -> Array:
    """D(0) = 0, D(1), D(2) and D(3 and more), estimated from n_1 … n_4, the numbers of grams that occur 1 … 4 times.

    D(c) = c - (c + 1) · n_1 / (n_1 + 2 n_2) · n_(c+1) / n_c. If one of these numbers is 0, D(c) = c / 2.

    Returns:
        (4,), D(c) in [0, c].
    """
    n = np.bincount(counts.clip(max=5), minlength=5)[:5].astype(np.float64)
    if not n[1:].all():
        return np.array([0.0, 0.5, 1.0, 1.5])
    c = np.arange(1, 4)
    estimate = c - (c + 1) * n[1] / (n[1] + 2 * n[2]) * n[2:] / n[1:4]
    return np.array([0.0, *estimate.clip(0, c)])
