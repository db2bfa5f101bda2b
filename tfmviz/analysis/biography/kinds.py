"""Kinds of keys that a head may attend to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import category

import numpy as np

from tfmviz.analysis.heads import equal, is_punctuation, word_of
from tfmviz.record.trace import Array, Encoding

NEAR = 3
"""Largest distance of a near token."""

IN_WORDS = {
    "previous": "the token before",
    "two before": "the token two places before",
    "near before": "one of the three tokens before",
    "next": "the token after",
    "near after": "one of the three tokens after",
    "near": "the token itself and those up to three places away",
    "itself": "the token itself",
    "same place": "the token at the same place of the source",
    "same word": "the same word elsewhere",
    "punctuation": "punctuation",
    "capital": "words with a capital letter",
    "number": "numbers",
    "frequent": "frequent tokens",
    "rare": "rare tokens",
    "induction": "what followed the same token before",
    "same token": "the same token before",
    "aligned": "a different word of the source for each word that is written",
    "evenly": "everything alike",
}
"""Each kind in words, within a sentence."""

KINDS = tuple(kind for kind in IN_WORDS if kind not in ("induction", "same token", "aligned", "evenly"))
"""The kinds that ordinary text can show."""

ON_REPEATS = ("induction", "same token", "previous")
"""The kinds that repeated random text can show."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frequencies:
    """Frequent and rare tokens.

    Attributes:
        frequent: the fewest tokens that make up half of a text.
        common: those that make up nine tenths of it. All others are rare.
    """

    frequent: frozenset[int]
    common: frozenset[int]

    @classmethod
    def of(cls, texts: Iterable[Encoding]) -> Frequencies:
        counts = Counter(token for text in texts for token in text.ids)
        total, seen = sum(counts.values()), 0
        frequent, common = set(), set()
        for token, count in counts.most_common():
            if seen < 0.5 * total:
                frequent.add(token)
            if seen < 0.9 * total:
                common.add(token)
            seen += count
        return cls(frequent=frozenset(frequent), common=frozenset(common))


def cells(queries: Encoding, keys: Encoding, mask: Array, frequencies: Frequencies) -> Array:
    """The cells of each of `KINDS`: (kind, q_len, k_len), bool. The first key is of no kind.

    Args:
        queries, keys: the same object in self-attention.
        mask: (q_len, k_len).
    """
    within = queries is keys
    back = np.arange(len(queries))[:, None] - np.arange(len(keys))  # distance from the query back to the key
    nothing = np.zeros_like(mask)
    others = back != 0 if within else ~nothing
    same = np.array([[word_of(q) == word_of(k) for k in keys.tokens] for q in queries.tokens])

    def tokens(chosen: Iterable[bool]) -> Array:
        return np.broadcast_to(np.array(list(chosen)), mask.shape) & others

    found = {
        "previous": back == 1 if within else nothing,
        "two before": back == 2 if within else nothing,
        "near before": (back >= 1) & (back <= NEAR) if within else nothing,
        "next": back == -1 if within else nothing,
        "near after": (back <= -1) & (back >= -NEAR) if within else nothing,
        "near": abs(back) <= NEAR if within else nothing,
        "itself": back == 0 if within else nothing,
        "same place": nothing if within else back == 0,
        "same word": same & others,
        "punctuation": tokens(map(is_punctuation, keys.tokens)),
        "capital": tokens(token.strip()[:1].isupper() for token in keys.tokens),
        "number": tokens(any(category(mark) == "Nd" for mark in token) for token in keys.tokens),
        "frequent": tokens(token in frequencies.frequent for token in keys.ids),
        "rare": tokens(token not in frequencies.common for token in keys.ids),
    }
    return np.stack([found[kind] for kind in KINDS]) & beyond_first(mask)


def cells_on_repeats(text: Encoding, mask: Array) -> Array:
    """The cells of each of `ON_REPEATS` in the second half of a repeated text: (kind, len, len)."""
    place = np.arange(len(text))
    earlier = equal(text.ids) & (place < place[:, None])
    followed = np.zeros_like(earlier)
    followed[:, 1:] = earlier[:, :-1]
    found = np.stack([followed, earlier, place[:, None] - place == 1])
    return found & beyond_first(mask) & (place >= len(text) // 2)[:, None]


def beyond_first(mask: Array) -> Array:
    """The allowed cells except those of the first key, in rows with at least two others: (q_len, k_len)."""
    allowed = mask.copy()
    allowed[:, 0] = False
    return allowed & (allowed.sum(axis=1) > 1)[:, None]
