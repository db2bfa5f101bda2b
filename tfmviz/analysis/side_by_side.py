"""Comparison of two runs.

Tokens are paired, not positions.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array, Encoding, Trace

MOST_CELLS = 4_000_000
"""Two texts of 2,000 tokens: 16 MB, a tenth of a second."""

Place = tuple[int | None, int | None]
"""A token's position in A and in B; None if that text lacks it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairing:
    """The paired tokens of two texts.

    Attributes:
        order: every token of A and of B once; a moved word is where A has it.
    """

    order: tuple[Place, ...]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a, b in self.order if a is not None and b is not None]

    def partner(self, position: int) -> int | None:
        """The position in B of the token at a position of A."""
        return dict(self.pairs).get(position)

    def places(self, side: int) -> list[int]:
        """The indices in `order` of the tokens of A (0) or of B (1)."""
        found = {place[side]: n for n, place in enumerate(self.order)}
        return [found[position] for position in range(len(found) - (None in found))]


def pair(a: Sequence[Hashable], b: Sequence[Hashable]) -> Pairing:
    """Pairs equal tokens: along a longest common subsequence, then those that have moved.

    Common beginnings and ends come first; beyond `MOST_CELLS` cells the rest has no such subsequence.
    """
    backbone = _common(a, b)
    of_a, of_b = ({pair[side] for pair in backbone} for side in (0, 1))
    waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for m, token in enumerate(b):
        if m not in of_b:
            waiting[token].append(m)
    moved = {n: waiting[token].popleft() for n, token in enumerate(a) if n not in of_a and waiting[token]}
    left = {m for places in waiting.values() for m in places}
    order: list[Place] = []
    from_a = from_b = 0
    for at_a, at_b in [*backbone, (len(a), len(b))]:
        order += [(n, moved.get(n)) for n in range(from_a, at_a)]
        order += [(None, m) for m in range(from_b, at_b) if m in left]
        order.append((at_a, at_b))
        from_a, from_b = at_a + 1, at_b + 1
    return Pairing(order=tuple(order[:-1]))


def pair_tokens(a: Encoding, b: Encoding) -> Pairing:
    """Pairs tokens by their letters, without the space that begins a word.

    Two tokenizers' cuts of one text are paired by characters.
    """
    if a.text == b.text and a.tokens != b.tokens:
        return pair(a.offsets, b.offsets)
    return pair([token.strip() or token for token in a.tokens], [token.strip() or token for token in b.tokens])


def parting(a: Sequence[Hashable], b: Sequence[Hashable]) -> int | None:
    """The first position at which two texts differ; None if one begins with the other."""
    return next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), None)


def distances(a: Array, b: Array, queries: Pairing, keys: Pairing) -> Array:
    """The total variation of every head's rows, (head, query of both), in the order of `queries.pairs`.

    For rows p and q it is ½ Σ |p − q|, from 0 (equal) to 1 (disjoint). Weights on keys that only one text has count as
    one share.

    Args:
        a, b: (head, q_len, k_len), rows sum to 1.
    """
    (rows_a, rows_b), (keys_a, keys_b) = _two(queries), _two(keys)
    p, q = a[:, rows_a][:, :, keys_a], b[:, rows_b][:, :, keys_b]  # (head, query of both, key of both)
    elsewhere = np.abs(p.sum(axis=-1) - q.sum(axis=-1))
    return 0.5 * (np.abs(p - q).sum(axis=-1) + elsewhere)


def difference(a: Array, b: Array, queries: Pairing, keys: Pairing) -> Array:
    """B − A over the tokens of both texts in one order.

    Args:
        a, b: (q_len, k_len); NaN where masked.

    Returns:
        (row, column) of the pairings' `order`, NaN if a token has no partner or both masks forbid the look. A look that
        one of them forbids counts as 0.
    """
    found = np.full((len(queries.order), len(keys.order)), np.nan)
    rows = [(n, *place) for n, place in enumerate(queries.order) if None not in place]
    columns = [(n, *place) for n, place in enumerate(keys.order) if None not in place]
    if rows and columns:
        (to, at_a, at_b), (to_column, column_a, column_b) = np.array(rows, int).T, np.array(columns, int).T
        before, after = a[np.ix_(at_a, column_a)], b[np.ix_(at_b, column_b)]
        change = np.nan_to_num(after) - np.nan_to_num(before)
        found[np.ix_(to, to_column)] = np.where(np.isnan(before) & np.isnan(after), np.nan, change)
    return found


def likeness(a: Trace, b: Trace, stack: str, positions: tuple[int, int]) -> Array:
    """Cosines between the vectors of a token of A and one of B, from the embedding on: (state,)."""
    layers = [site for site in a.sites if site.startswith(f"{stack}.") and site.endswith(".resid_post")]
    sites = [f"{stack}.0.resid_pre", *layers]
    p, q = (np.stack([trace[site][at] for site in sites]) for trace, at in zip((a, b), positions, strict=True))
    lengths = np.linalg.norm(p, axis=-1) * np.linalg.norm(q, axis=-1)
    return (p * q).sum(axis=-1) / np.maximum(lengths, 1e-12)


def _two(pairing: Pairing) -> tuple[list[int], list[int]]:
    return [a for a, _ in pairing.pairs], [b for _, b in pairing.pairs]


def _common(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """A longest common subsequence, as positions in both, the earliest."""
    shorter = min(len(a), len(b))
    first = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    last = next((n for n in range(shorter - first) if a[-1 - n] != b[-1 - n]), shorter - first)
    between = _longest(a[first : len(a) - last], b[first : len(b) - last])
    begins = [(n, n) for n in range(first)]
    ends = [(len(a) - n, len(b) - n) for n in range(last, 0, -1)]
    return [*begins, *((first + n, first + m) for n, m in between), *ends]


def _longest(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The same by its recurrence; empty beyond `MOST_CELLS`."""
    if len(a) * len(b) > MOST_CELLS:
        return []
    index = {token: n for n, token in enumerate(dict.fromkeys([*a, *b]))}
    first, second = np.array([index[t] for t in a], int), np.array([index[t] for t in b], int)
    longest = np.zeros((len(a) + 1, len(b) + 1), np.int32)  # of the suffixes from here
    for n in reversed(range(len(a))):
        below = np.maximum(longest[n + 1, :-1], longest[n + 1, 1:] + (first[n] == second))
        longest[n, :-1] = np.maximum.accumulate(below[::-1])[::-1]
    n = m = 0
    found: list[tuple[int, int]] = []
    while n < len(a) and m < len(b):
        if first[n] == second[m]:
            found.append((n, m))
            n, m = n + 1, m + 1
        elif longest[n + 1, m] >= longest[n, m + 1]:
            n += 1
        else:
            m += 1
    return found
