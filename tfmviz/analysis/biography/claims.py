"""Claims about heads, made on some texts and tested on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.biography.measure import Tally
from tfmviz.analysis.heads import ALIGNED
from tfmviz.record.trace import Array

CLAIMED = 0.3
"""A kind of key is claimed if its share goes at least this part of the way from an even spread's share to 1.

From 10 to 30% is 0.22 of the way, from 53 to 73% is 0.43.
"""

HELD = 0.2
"""The claim holds if on other texts the lower end of the share's interval still goes this part of the way."""

EVEN = 0.9
"""A head is claimed to attend evenly if it shares this much of its attention with an even spread, on both sets of
texts: no set of keys then gets on average more than ten percentage points beyond its even share.
"""

HELD_ALIGNED = 0.45
"""Least alignment on the test texts with which that claim holds."""

RARELY = 0.03
"""No claim concerns a kind of key that fewer of the queries have."""

DRAWS = 1000
"""Bootstrap samples of the texts per interval."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The claim that a head attends to a kind of key, beyond the first one.

    Attributes:
        kind: of `kinds.IN_WORDS`.
        found: its share on the texts for making claims.
        share: that on the test texts, with its 95% bootstrap interval.
        chance: an even spread's share there.
    """

    kind: str
    found: float
    share: float
    low: float
    high: float
    chance: float
    held: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sums:
    """The tallies of one layer on many texts, stacked: (text, …), see `Tally`."""

    mass: Array
    room: Array
    even: Array
    rest: Array
    shared: Array
    aligned: Array
    queries: Array
    with_kind: Array

    @classmethod
    def of(cls, tallies: Sequence[Tally]) -> Sums:
        return cls(**{name: np.stack([getattr(one, name) for one in tallies]) for name in cls.__slots__})

    def shares(self) -> Array:
        """(head, kind); NaN if no query has a key of that kind."""
        return _ratio(self.mass.sum(axis=0), self.room.sum(axis=0))

    def chances(self) -> Array:
        """(head, kind), the shares of an even spread."""
        return _ratio(self.even.sum(axis=0), self.room.sum(axis=0))

    def alignment(self) -> Array:
        """(head,), the mean over texts with several tokens on both sides."""
        return np.asarray(np.nanmean(self.aligned, axis=0))

    def evenness(self) -> Array:
        """(head,), overlap with an even spread beyond the first key."""
        return _ratio(self.shared.sum(axis=0), self.rest.sum(axis=0))


def claims(
    found: Sums, tested: Sums, kinds: Sequence[str], *, evenly: bool = True, across: bool = False
) -> list[Claim | None]:
    """The most informative claim about each head of a layer, if any.

    Information is the Kullback-Leibler divergence of attending to the kind or not, for the head and an even spread,
    times the share of queries with such a key.

    Args:
        evenly: considers even attention.
        across: considers alignment, in cross-attention.
    """
    share, chance = found.shares(), found.chances()
    often = found.with_kind.sum(axis=0) / found.queries.sum()
    fits = _exceeds(share, chance, CLAIMED) & (often >= RARELY)
    says = np.where(fits, _divergence(share, chance) * often, -1)
    rng = np.random.default_rng(0)
    n_texts = len(tested.rest)
    drawn = rng.multinomial(n_texts, np.full(n_texts, 1 / n_texts), size=DRAWS).astype(np.float64)  # (draw, text)
    made: list[Claim | None] = []
    for head, kind in enumerate(says.argmax(axis=1).tolist()):
        if across and found.alignment()[head] >= ALIGNED:
            made.append(_aligned(float(found.alignment()[head]), tested.aligned[:, head], drawn))
        elif says[head, kind] > 0:
            sums = tested.mass[:, head, kind], tested.room[:, head, kind], tested.even[:, head, kind]
            made.append(_tested(kinds[kind], float(share[head, kind]), sums, drawn))
        elif evenly and found.evenness()[head] >= EVEN:
            made.append(_even(float(found.evenness()[head]), tested.shared[:, head], tested.rest[:, head], drawn))
        else:
            made.append(None)
    return made


def interval(values: Array, weights: Array, drawn: Array) -> tuple[float, float, float]:
    """Σ values / Σ weights over all texts, and its 95% bootstrap interval: value, low, high."""
    samples = _ratio(drawn @ values, drawn @ weights)
    samples = samples[np.isfinite(samples)]
    if not len(samples):
        return float("nan"), float("nan"), float("nan")
    low, high = np.quantile(samples, (0.025, 0.975))
    return float(values.sum() / weights.sum()), float(low), float(high)


def _tested(kind: str, found: float, sums: tuple[Array, Array, Array], drawn: Array) -> Claim:
    mass, room, even = sums
    share, low, high = interval(mass, room, drawn)
    chance = float(even.sum() / room.sum()) if room.sum() else float("nan")
    held = bool(_exceeds(low, chance, HELD))
    return Claim(kind=kind, found=found, share=share, low=low, high=high, chance=chance, held=held)


def _even(found: float, shared: Array, rest: Array, drawn: Array) -> Claim:
    share, low, high = interval(shared, rest, drawn)
    return Claim(kind="evenly", found=found, share=share, low=low, high=high, chance=1.0, held=bool(low >= EVEN))


def _aligned(found: float, aligned: Array, drawn: Array) -> Claim:
    known = np.isfinite(aligned)
    share, low, high = interval(np.where(known, aligned, 0.0), known.astype(np.float64), drawn)
    return Claim(
        kind="aligned", found=found, share=share, low=low, high=high, chance=0.0, held=bool(low >= HELD_ALIGNED)
    )


def _exceeds(share: Array | float, chance: Array | float, part: float) -> Array:
    """True if a share goes at least this part of the way from an even spread's to 1."""
    return np.asarray((share > chance) & (share - chance >= part * (1 - chance)))


def _divergence(p: Array, q: Array) -> Array:
    p, q = (np.clip(np.nan_to_num(x), 1e-6, 1 - 1e-6) for x in (p, q))
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def _ratio(a: Array, b: Array) -> Array:
    return np.divide(a, b, where=b > 0, out=np.full(np.broadcast_shapes(a.shape, b.shape), np.nan))


def proportion(n: int, of: int) -> tuple[float, float]:
    """The 95% interval of a proportion (Wilson 1927): low, high."""
    if not of:
        return 0.0, 1.0
    z, p = 1.96, n / of
    middle, half = p + z * z / (2 * of), z * np.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    return float((middle - half) / scale), float((middle + half) / scale)
