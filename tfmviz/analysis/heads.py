"""Scores of heads against known attention patterns, and verdicts in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from unicodedata import category

import numpy as np

from tfmviz.record.trace import Array, Encoding, Trace, kind_of, may_look

Kind = Literal[
    "previous token",
    "next token",
    "current token",
    "first token",
    "same word",
    "induction",
    "punctuation",
    "alignment",
    "broad",
]
VerdictKind = Kind | Literal["mixed"]

SELF_KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "alignment")
"""Kinds of heads within one text."""

CROSS_KINDS: tuple[Kind, ...] = ("alignment", "first token", "punctuation", "broad")
"""Kinds of heads in cross-attention."""

REPEAT_KINDS: tuple[Kind, ...] = ("same word", "induction")

IN_WORDS: dict[VerdictKind, str] = {
    "previous token": "looks at the token just before",
    "next token": "looks at the token just after",
    "current token": "looks at the token itself",
    "first token": "rests on the first token",
    "same word": "looks at the same word elsewhere in the text",
    "induction": "looks at what followed the same token earlier",
    "punctuation": "rests on punctuation",
    "alignment": "looks at a different word of the source for each word that is written",
    "broad": "spreads its attention evenly",
    "mixed": "fits no known pattern",
}
"""Predicates for heads of each kind."""

NAMED = 0.4
"""Least share of attention by which a head is named after a pattern."""

ALIGNED = 0.5
"""Least alignment of a head that is said to align.

In the shipped translator such heads give two thirds of their attention to translations, others a quarter (medians).
"""

BROAD = 0.95
"""Least evenness of a broad head: one that ignores one key of ten has log 9 / log 10 = 0.954."""


N_RANDOM = 50
"""Length of the random sequence that is repeated."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A head's main pattern.

    Attributes:
        kind: "broad" if the evenness is at least `BROAD`; else the pattern with the highest score if that is at least
            `NAMED` (`ALIGNED` for "alignment"); else "mixed".
        score: that score or evenness, in [0, 1]; for "mixed", the highest score.
    """

    kind: VerdictKind
    score: float


def head_scores(pattern: Array, queries: Encoding, keys: Encoding, mask: Array) -> dict[Kind, Array]:
    """Scores every head of a layer against known patterns: 1 is a perfect example.

    Args:
        pattern: (head, q_len, k_len), rows sum to 1.
        queries, keys: the same object in self-attention.
        mask: (q_len, k_len).

    Returns:
        For each of `SELF_KINDS` or `CROSS_KINDS` (head,), in [0, 1]; NaN if the texts cannot show it.
    """
    if queries is keys:
        return _self_scores(pattern, keys, mask)
    first = np.broadcast_to(np.arange(len(keys)) == 0, mask.shape)
    return {
        "alignment": alignment(pattern),
        "first token": _share(pattern, first, mask.sum(axis=1) > 1),
        "punctuation": _at_punctuation(pattern, mask, keys.tokens, mask),
        "broad": _evenness(pattern, mask),
    }


def _self_scores(pattern: Array, text: Encoding, mask: Array) -> dict[Kind, Array]:
    """`head_scores` in self-attention.

    Most are shares of attention, averaged over the queries i for which they are defined:

        previous token   pattern[i, i-1], for i ≥ 1 (Clark et al. 2019, section 3.1)
        next token       pattern[i, i+1], where the mask allows it (the same)
        current token    pattern[i, i],   for i ≥ 1
        first token      pattern[i, 0],   for i ≥ 1 ("attention sinks", Xiao et al. 2024)
        same word        Σ_j pattern[i, j] over all other j with the same word in any case, where the mask allows one
                         ("duplicate token heads" of Wang et al. 2022, here in both directions)
        induction        Σ_j pattern[i, j+1] over earlier j with the same token, where there is one: what followed this
                         token before (Olsson et al. 2022)
    """
    length = len(text)
    position = np.arange(length)
    earlier = equal(text.ids) & (position < position[:, None])  # (query, key with the same token)
    after_earlier = np.zeros_like(earlier)
    after_earlier[:, 1:] = earlier[:, :-1]
    itself, others = np.eye(length, dtype=bool), mask & ~np.eye(length, dtype=bool)
    following = mask & np.eye(length, k=1, dtype=bool)
    same = others & equal([word_of(token) for token in text.tokens])
    later = position >= 1
    return {
        "previous token": _share(pattern, np.eye(length, k=-1, dtype=bool), later),
        "next token": _share(pattern, following, following.sum(axis=1) > 0),
        "current token": _share(pattern, itself, later),
        "first token": _share(pattern, np.broadcast_to(position == 0, mask.shape), later),
        "same word": _share(pattern, same, same.sum(axis=1) > 0),
        "induction": _share(pattern, after_earlier, earlier.sum(axis=1) > 0),
        "punctuation": _at_punctuation(pattern, others, text.tokens, mask),
        "broad": _evenness(pattern, mask),
    }


def layer_scores(trace: Trace) -> dict[str, dict[Kind, Array]]:
    """`head_scores` of every layer: per layer, per kind (head,)."""
    alike: dict[tuple[int, int, bytes], list[str]] = {}
    for layer in trace.layers:
        queries, keys = trace.axes(layer)
        alike.setdefault((id(queries), id(keys), allowed(trace, layer).tobytes()), []).append(layer)
    found: dict[str, dict[Kind, Array]] = {}
    for layers in alike.values():
        patterns = [trace[f"{layer}.pattern"] for layer in layers]
        scores = head_scores(np.concatenate(patterns), *trace.axes(layers[0]), allowed(trace, layers[0]))
        ends = np.cumsum([len(pattern) for pattern in patterns])[:-1]
        parts = {kind: np.split(values, ends) for kind, values in scores.items()}
        found |= {layer: {kind: parts[kind][n] for kind in parts} for n, layer in enumerate(layers)}
    return {layer: found[layer] for layer in trace.layers}


def allowed(trace: Trace, layer: str) -> Array:
    """(q_len, k_len): True where at least one of a layer's heads may look. A record made by hand may have no mask."""
    if f"{layer}.mask" not in trace:
        return may_look(trace[f"{layer}.pattern"])
    mask = trace[f"{layer}.mask"]
    return np.logical_or.reduce(mask) if mask.ndim == 3 else mask


def random_repeats(*, vocab_size: int, max_len: int, seed: int = 0) -> tuple[int, ...]:
    """`N_RANDOM` random tokens, or as many as fit, and the same tokens again.

    Only looking back helps to predict the second half: it shows induction heads.
    """
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(1, vocab_size, size=min(N_RANDOM, max_len // 2)).tolist()) * 2


def confirmed(scores: Mapping[Kind, Array], on_repeats: Mapping[Kind, Array]) -> dict[Kind, Array]:
    """Scores on a text, with `REPEAT_KINDS` limited to their scores on random repeats.

    Ordinary text repeats mostly "the" and "of", which precede nouns, so a head that looks at nouns would pass for an
    induction head.
    """
    return dict(scores) | {kind: np.minimum(scores[kind], on_repeats[kind]) for kind in REPEAT_KINDS}


def verdicts(scores: Mapping[Kind, Array]) -> tuple[Verdict, ...]:
    """One verdict per head of a layer. On a single token it is "mixed" with score NaN."""
    kinds = [kind for kind in scores if kind != "broad"]
    shares = np.array([scores[kind] for kind in kinds])  # (kind, head)
    shown = np.where(np.isnan(shares), -np.inf, shares)
    best = shown.argmax(axis=0)
    return tuple(
        _verdict(kinds[kind], share, even)
        for kind, share, even in zip(best.tolist(), shown.max(axis=0).tolist(), scores["broad"].tolist(), strict=True)
    )


def overlap(pattern: Array, mask: Array) -> Array:
    """Attention that two heads give to the same keys: Σ_j min(a_ij, b_ij), averaged over queries i.

    Args:
        pattern: (head, q_len, k_len), rows sum to 1.
        mask: (q_len, k_len); queries with a single key do not count.

    Returns:
        (head, head), in [0, 1]; NaN if no query has several keys.
    """
    rows = pattern[:, mask.sum(axis=-1) > 1].astype(np.float64)
    if not rows.shape[1]:
        return np.full((len(pattern), len(pattern)), np.nan)
    return np.stack([np.minimum(one, rows).sum(axis=-1).mean(axis=-1) for one in rows])


def links(trace: Trace, kind: str, query: int, key: int) -> Array:
    """Weights a_ij of all heads of one kind of attention, the layers bottom up.

    Args:
        kind: such as "decoder.cross_attn".

    Returns:
        (layer, head); NaN where masked.
    """
    found = []
    for layer in trace.layers:
        if kind_of(layer) == kind:
            pattern = trace[f"{layer}.pattern"]
            may = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape)[:, query, key]
            found.append(np.where(may, pattern[:, query, key], np.nan))
    return np.stack(found)


def looks_back(pattern: Array) -> Array:
    """Mean distance of a decoder head's attention: Σ_j a_ij (i − j), averaged over the queries after the first.

    Args:
        pattern: (head, len, len), causal, rows sum to 1.

    Returns:
        (head,), in tokens; NaN for a single token.
    """
    place = np.arange(pattern.shape[-1])
    if len(place) == 1:
        return np.full(len(pattern), np.nan)
    back = np.maximum(place[:, None] - place, 0)
    return (pattern.astype(np.float64) * back).sum(axis=-1)[:, 1:].mean(axis=-1)


def _verdict(best: Kind, share: float, evenness: float) -> Verdict:
    if math.isinf(share):
        return Verdict("mixed", math.nan)
    if evenness >= BROAD:  # first: attention spread over two or three tokens gives each a large share
        return Verdict("broad", evenness)
    return Verdict(best if share >= (ALIGNED if best == "alignment" else NAMED) else "mixed", share)


def _share(pattern: Array, cells: Array, queries: Array) -> Array:
    """Mean over `queries` of the attention on `cells`: (head,)."""
    if not queries.any():
        return np.full(len(pattern), np.nan)
    return pattern[:, cells & queries[:, None]].sum(axis=-1) / queries.sum()


def _at_punctuation(pattern: Array, cells: Array, tokens: Sequence[str], mask: Array) -> Array:
    """Excess of the share s of attention on punctuation over that of an even spread, c: (s − c) / (1 − c).

    Punctuation as a resting place: Clark et al. 2019, section 3.2.

    Args:
        cells: (q_len, k_len), the keys that count.

    Returns:
        (head,), at least 0; NaN unless at least half of the queries have punctuation to look at.
    """
    at_marks = cells & np.array([is_punctuation(token) for token in tokens])
    even = at_marks.sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
    queries = (even > 0) & (even < 1)
    if 2 * queries.sum() < len(queries):
        return np.full(len(pattern), np.nan)
    chance = even[queries].mean()
    return np.maximum(_share(pattern, at_marks, queries) - chance, 0) / (1 - chance)


def alignment(pattern: Array) -> Array:
    """(C − 1) / (min(rows, columns) − 1), C = Σ_j max_i a_ij: the degree to which written words have separate source
    words, (head,), in [0, 1].

    The last row, which writes the end, does not count. NaN for fewer than two written or two source tokens. Related:
    the coverage of Tu et al. 2016, with a sum instead of the maximum.
    """
    rows = pattern[:, :-1]
    most = min(rows.shape[1:])
    if most < 2:
        return np.full(len(pattern), np.nan)
    return (rows.max(axis=1).sum(axis=-1) - 1) / (most - 1)


def equal(values: Sequence[object]) -> Array:
    """(n, n), True where two values are equal."""
    numbers = {value: n for n, value in enumerate(values)}
    codes = np.array([numbers[value] for value in values])
    return np.equal.outer(codes, codes)


def word_of(token: str) -> str:
    return token.strip().casefold() or token


def is_punctuation(token: str) -> bool:
    """True if a token consists of punctuation. "_", a word to fill in, is none."""
    return bool(token.strip()) and all(category(mark).startswith("P") and mark != "_" for mark in token.strip())


def _evenness(pattern: Array, mask: Array) -> Array:
    """Mean over queries of H(row) / log(number of allowed keys): (head,)."""
    choices = mask.sum(axis=-1)
    queries = choices > 1
    if not queries.any():
        return np.full(len(pattern), np.nan)
    log = np.log(np.maximum(pattern, np.finfo(pattern.dtype).tiny))  # finite, so that 0 · log 0 is 0
    entropy = -np.einsum("hqk,hqk->hq", pattern, log)  # nats
    return (entropy[:, queries] / np.log(choices[queries])).mean(axis=1)
