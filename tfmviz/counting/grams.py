"""Counts of every sequence of 1 to n tokens in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Grams:
    """The n-grams of one length n.

    The key of an n-gram is h · V + w: h is the index of its first n - 1 tokens among the grams of that length (0 if
    n = 1), and w is its last token.

    Attributes:
        keys: (gram,), sorted; a gram's index is its position.
        counts: (gram,).
        totals: (context,), the sum of the counts over all w that follow the context h.
        suffixes: (gram,), the index of each without its first token.
        marked: (gram,), True if it begins with a boundary token and has a second one.
    """

    keys: Array
    counts: Array
    totals: Array
    suffixes: Array
    marked: Array


def numbers(sorted_keys: Array, keys: Array) -> Array:
    """The index of each key among the sorted ones; -1 if it is missing."""
    if not len(sorted_keys):
        return np.full(np.shape(keys), -1)
    places = np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)
    return np.where(sorted_keys[places] == keys, places, -1)


def count(stream: Array, *, vocab_size: int, n: int = 5, mark: int | None = None) -> tuple[Grams, ...]:
    """Counts the grams of 1 to `n` tokens in a text.

    Args:
        stream: (tokens,), the text.
        mark: the token between two sentences, only first or last in a gram, so that no gram spans two sentences. As a
            1-gram it counts once per sentence. None: no token is special.
    """
    words = stream.astype(np.int64)
    places = np.arange(len(words))
    number = np.zeros(len(words) + 1, dtype=np.int64)  # index of the gram that begins at each position; -1: none
    counted: list[Grams] = []
    for length in range(1, n + 1):
        places = places[places + length <= len(words)]
        if mark is not None and length > 2:
            places = places[words[places + length - 2] != mark]
        keys, first, which, occurrences = np.unique(
            number[places] * vocab_size + words[places + length - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        n_contexts = len(counted[-1].keys) if counted else 1
        first = places[first]
        if length == 1 and len(words) and words[0] == mark:
            occurrences = occurrences - (keys == mark)  # the first one ends no sentence
        counted.append(
            Grams(
                keys=keys,
                counts=occurrences.astype(np.int32),
                totals=np.bincount(keys // vocab_size, occurrences, n_contexts).astype(np.int32),
                suffixes=number[first + 1].astype(np.int32) if length > 1 else np.zeros(len(keys), dtype=np.int32),
                marked=(words[first] == mark) & (length > 1),
            )
        )
        number[:] = -1
        number[places] = which
    return tuple(counted)


def context_number(keys: Iterable[Array], context: Sequence[int], *, vocab_size: int) -> int:
    """The index of a context among the grams of its length; -1 if it never occurred, 0 if it is empty.

    Args:
        keys: those of the 1-grams, the 2-grams …
    """
    number = 0
    for known, word in zip(keys, context, strict=False):
        number = int(numbers(known, np.array(number * vocab_size + word)))
        if number < 0:
            return -1
    return number


def after(grams: Sequence[Grams], context: Sequence[int], *, vocab_size: int) -> Array:
    """c(context w) for every word w of the vocabulary: (vocab,)."""
    found = np.zeros(vocab_size, dtype=np.int64)
    number = context_number((order.keys for order in grams), context, vocab_size=vocab_size)
    if number >= 0:
        order = grams[len(context)]
        begin, end = np.searchsorted(order.keys, [number * vocab_size, (number + 1) * vocab_size])
        found[order.keys[begin:end] - number * vocab_size] = order.counts[begin:end]
    return found


def along(grams: Sequence[Grams], stream: Array, *, vocab_size: int, mark: int) -> tuple[Array, Array, Array]:
    """Counts along another text, for contexts of 0, 1, 2 … tokens.

    A context does not reach back past its sentence's boundary token.

    Returns:
        c(context w), c(context), and whether the context has its full length: (n, tokens - 1) each, for every token but
        the first, a boundary token.
    """
    words = stream.astype(np.int64)
    place = np.arange(len(words))
    before = place[1:] - np.maximum.accumulate(np.where(words == mark, place, 0))[:-1]  # length of the longest context
    number = np.zeros(len(words) + 1, dtype=np.int64)  # index of the context that begins at each position
    found = np.zeros((2, len(grams), len(words) - 1), dtype=np.int64)
    full = before >= np.arange(len(grams))[:, None]
    for length, order in enumerate(grams, start=1):
        number = number[: max(len(words) - length + 1, 0)]
        which = np.where(number >= 0, numbers(order.keys, number * vocab_size + words[length - 1 :]), -1)
        own = np.stack([_at(order.counts, which), _at(order.totals, number)])
        first = max(2 - length, 0)  # the stream's first token is not predicted
        if length > 1:
            found[:, length - 1] = found[:, length - 2]
        begin = max(length - 2, 0)
        found[:, length - 1, begin:] = np.where(full[length - 1, begin:], own[:, first:], found[:, length - 1, begin:])
        number = which
    return found[0], found[1], full


def _at(values: Array, places: Array) -> Array:
    """`values[places]`; 0 where the index is -1."""
    return np.where(places >= 0, values[places], 0) if len(values) else np.zeros(len(places), dtype=np.int64)
