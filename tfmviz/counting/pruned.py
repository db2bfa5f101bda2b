"""n-gram models without their rare grams, small enough to ship."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.counting.grams import Grams
from tfmviz.counting.kneser_ney import NGramModel, Order

Array = np.ndarray


def pruned(model: NGramModel, grams: Sequence[Grams], *, least: Sequence[int]) -> NGramModel:
    """The model without its rare grams, by a plain cut-off.

    A gram h w that stays keeps its share a(h w) = max(c - D(c), 0) / Σ_v c(h v). The rest goes to the shorter context:
    γ(h) = 1 - Σ_v a(h v) over those that stay, so probabilities still sum to 1.

    Args:
        grams: the counts behind the model.
        least: the smallest count that stays, by length.
    """
    orders: list[Order] = []
    new_number = np.zeros(1, dtype=np.int64)  # index of each context; -1: removed
    for order, counted, at_least in zip(model.orders, grams, least, strict=True):
        contexts, words = np.divmod(order.keys, model.vocab_size)
        stays = (counted.counts >= at_least) & (new_number[contexts] >= 0)
        share = order.above_discount / order.total[contexts].clip(min=1)
        n_contexts = int(new_number.max()) + 1
        orders.append(_order(new_number[contexts[stays]], words[stays], share[stays], n_contexts, model.vocab_size))
        new_number = np.where(stays, stays.cumsum() - 1, -1)
    return NGramModel(tuple(orders), model.vocab_size)


def n_numbers(model: NGramModel) -> int:
    """Number of values: a share for every gram, and γ for every context."""
    return sum(len(order.keys) + int((order.total > 0).sum()) for order in model.orders)


def after(model: NGramModel, texts: Array) -> Array:
    """The distribution after each text: (text, len) tokens to (text, vocab) probabilities."""
    contexts = [tuple(text) for text in texts[:, -(len(model.orders) - 1) :].tolist()]
    found = {context: model.distribution(context) for context in dict.fromkeys(contexts)}
    return np.array([found[context] for context in contexts])


def save(path: Path, model: NGramModel) -> None:
    """Writes a pruned model: by length the last tokens, their number after each context, and their shares."""
    arrays: dict[str, Any] = {"vocab_size": np.array(model.vocab_size)}
    for n, order in enumerate(model.orders, start=1):
        contexts, words = np.divmod(order.keys, model.vocab_size)
        arrays[f"words_{n}"] = words.astype(np.uint16)
        arrays[f"followers_{n}"] = np.bincount(contexts, minlength=len(order.total)).astype(np.uint16)
        arrays[f"shares_{n}"] = rounded_down(order.above_discount)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def rounded_down(shares: Array) -> Array:
    """The shares in half precision, rounded down so that no context's exceed 1."""
    halves = shares.astype(np.float16)
    return np.where(halves > shares, np.nextafter(halves, np.float16(0)), halves)


def load(path: Path) -> NGramModel:
    """Reads what `save` wrote.

    Raises:
        OSError, ValueError, KeyError: the file is missing or damaged.
    """
    with np.load(path, allow_pickle=False) as arrays:
        vocab_size = int(arrays["vocab_size"])
        orders = []
        n = 1
        while f"words_{n}" in arrays:
            followers = arrays[f"followers_{n}"]
            contexts = np.repeat(np.arange(len(followers)), followers)
            share = arrays[f"shares_{n}"].astype(np.float64)
            orders.append(_order(contexts, arrays[f"words_{n}"].astype(np.int64), share, len(followers), vocab_size))
            n += 1
    return NGramModel(tuple(orders), vocab_size)


def _order(contexts: Array, words: Array, share: Array, n_contexts: int, vocab_size: int) -> Order:
    """Shares as above_discount / total with a total of 1."""
    followers = np.bincount(contexts, minlength=n_contexts)
    given = np.bincount(contexts, weights=share, minlength=n_contexts)
    return Order(contexts * vocab_size + words, share, (followers > 0).astype(np.int64), 1 - given)
