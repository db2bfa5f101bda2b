"""Self-supervised tasks from plain text with hidden words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Array = np.ndarray

Token = TypeVar("Token")
"""A token as text or as an index."""

ASKED, HIDDEN, REPLACED = 0.15, 0.8, 0.1
"""Share of the tokens to predict; of these, the shares replaced by the mask and by a random token."""

SPAN = 3
"""Mean length of T5's spans, in tokens."""


def masked(ids: Array, is_token: Array, rng: np.random.Generator, *, mask: int, vocab_size: int) -> tuple[Array, Array]:
    """Hides words as BERT does (Devlin et al. 2019, section 3.1).

    Each token is to be predicted with probability 0.15, at least one per batch. Of these, 80 % are replaced by the
    mask, 10 % by a random token, and 10 % stay.

    Args:
        ids: (batch, len).
        is_token: (batch, len), False for padding.
        mask: index of the mask; random tokens come after it.

    Returns:
        The input, and the tokens to predict: (batch, len) each.
    """
    asked = (rng.random(ids.shape) < ASKED) & is_token
    asked[0, 0] |= not asked.any()
    fate = rng.random(ids.shape)
    read = ids.copy()
    read[asked & (fate < HIDDEN)] = mask
    random = asked & (fate >= 1 - REPLACED)
    read[random] = rng.integers(mask + 1, vocab_size, size=int(random.sum()))
    return read, asked


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens from `start` up to, but excluding, `end`."""

    start: int
    end: int


def spans(length: int, rng: np.random.Generator) -> list[Span]:
    """The spans that T5 hides (Raffel et al. 2020, section 3.3.4): 15 % of the tokens, three at a time.

    Spans never touch, but may begin or end the text. (T5's always end the text, of 512 tokens, unless its mask is
    rolled.)

    Args:
        length: tokens of the text; fewer than two give no span.
    """
    if length < 2:
        return []
    n_hidden, n = _n_hidden(length), n_spans(length)
    first, *between, _ = _parts(length - n_hidden + 2, n + 1, rng)  # + 2: the first and the last may be empty
    found, at = [], 0
    for before, inside in zip((first - 1, *between), _parts(n_hidden, n, rng), strict=True):
        found.append(Span(at + before, at + before + inside))
        at += before + inside
    return found


def n_spans(length: int) -> int:
    """Number of spans in a text of at least two tokens."""
    n_hidden = _n_hidden(length)
    return min(max(round(n_hidden / SPAN), 1), n_hidden, length - n_hidden)


def _n_hidden(length: int) -> int:
    return min(max(round(ASKED * length), 1), length - 1)


def _parts(n: int, n_parts: int, rng: np.random.Generator) -> list[int]:
    """A random composition of n into `n_parts` positive integers."""
    cuts = np.sort(rng.permutation(n - 1)[: n_parts - 1]) + 1
    return np.diff([0, *cuts.tolist(), n]).tolist()


def left_out(
    tokens: Sequence[Token], hidden: Sequence[Span], *, marks: Sequence[Token]
) -> tuple[list[Token], list[Token]]:
    """The model's input, each span replaced by its own sentinel, and the target: sentinel, span, sentinel …

    Args:
        marks: the sentinels, one more than spans; the last one ends the target.
    """
    reads: list[Token] = []
    writes: list[Token] = []
    at = 0
    for mark, span in zip(marks, hidden, strict=False):
        reads += [*tokens[at : span.start], mark]
        writes += [mark, *tokens[span.start : span.end]]
        at = span.end
    return [*reads, *tokens[at:]], [*writes, marks[len(hidden)]] if hidden else []
